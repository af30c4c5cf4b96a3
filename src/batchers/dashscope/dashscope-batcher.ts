import type { Call, Limits, Match } from '../batcher.ts';
import { dashscopeInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { daysUpTo } from '../shared/windows.ts';

const day = 86_400_000;

/**
 * DashScope's batches: OpenAI's, of one model and one thinking setting each.
 *
 * @example
 * await batchify(askAll, { completionWindow: '3d', only: 'dashscope' });
 */
export class DashScopeBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = dashscopeInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 475_000_000,
    itemBytes: 5_700_000,
    windows: daysUpTo(14),
    cachedInput: 'uncached',
    outlives: 15 * day,
  };

  override match(call: Call): Match {
    const match = super.match(call);
    if (!('endpoint' in match)) return match;
    const { enable_thinking: thinking = null } = call.json;
    return { ...match, partition: `thinking: ${JSON.stringify(thinking)}` };
  }
}

const notes: ProviderNotes = {
  title: 'DashScope (Alibaba Model Studio)',
  foundBy: 'its input file',
  remarks: [
    'Calls with and without `enable_thinking` go into different batches: DashScope wants it so.',
    '`completionWindow` may be a whole number of days up to 14d.',
    'Only successful requests are billed. The context cache does not apply.',
    'Calls to `batch.dashscope.aliyuncs.com` ("batch chat") go out as they are: each is one connection that stays open for up to an hour, without an id, so that an answer whose connection breaks is lost and perhaps paid for. Ask the usual host instead.',
    'A request may have 6 MB. A batch can look frozen for half an hour.',
  ],
  unconfirmed: [],
};
