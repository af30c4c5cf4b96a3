import { field } from '../../base/json.ts';
import type { Call, Limits, Match } from '../batcher.ts';
import { siliconflowInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { StatusWords } from '../openai/openai-remote.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { daysUpTo } from '../shared/windows.ts';

const day = 86_400_000;

/**
 * SiliconFlow's batches: small ones, within up to two weeks.
 *
 * @example
 * await batchify(askAll, { completionWindow: '7d', only: 'siliconflow' });
 */
export class SiliconFlowBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = siliconflowInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    items: 5_000,
    recommendedItems: 5_000,
    bytes: 950_000_000,
    itemBytes: 190_000_000,
    windows: daysUpTo(14),
    outlives: 15 * day,
  };
  protected override readonly statuses: StatusWords = { in_queue: 'validating' };

  override match(call: Call): Match {
    const { messages } = call.json;
    const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
    if (field(last, 'role') === 'user') return super.match(call);
    return { bypass: 'batches of SiliconFlow need a last message from the user' };
  }

  protected override storedFile(body: unknown): unknown {
    return field(body, 'data') ?? body;
  }
}

const notes: ProviderNotes = {
  title: 'SiliconFlow',
  foundBy: 'its input file',
  remarks: [
    'A batch holds at most 5,000 requests.',
    '`completionWindow` may be a whole number of days up to 14d.',
    'A call whose last message is not from the user cannot be batched there and is made at full price.',
  ],
  unconfirmed: [
    'Whether the answer to an upload is wrapped in `data`: batchling takes both.',
    'Whether results are named by the id of a file or by a URL: batchling reads both, a URL without the API key.',
  ],
};
