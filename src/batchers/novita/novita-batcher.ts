import type { ItemId } from '../../base/types.ts';
import type { Envelope, Limits, Route } from '../batcher.ts';
import { novitaInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { StatusWords } from '../openai/openai-remote.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';

const hour = 3_600_000;

/**
 * Novita's batches: bare lines, and words of its own for their states.
 *
 * @example
 * await batchify(askAll, { only: 'novita' });
 */
export class NovitaBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = novitaInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 95_000_000,
    itemBytes: 95_000_000,
    outlives: 52 * hour,
  };
  protected override readonly statuses: StatusWords = { progress: 'in_progress' };

  override envelope(_route: Pick<Route, 'endpoint'>, id: ItemId): Envelope {
    return { before: `{"custom_id":"${id}","body":`, after: '}' };
  }
}

const notes: ProviderNotes = {
  title: 'Novita',
  foundBy: 'its input file',
  remarks: [
    'A batch may take up to 48 hours, whatever is asked for.',
    'Results are kept for 30 days.',
  ],
  unconfirmed: [
    'What batches cost: batchling estimates half of the list price.',
    'The size of a batch: batchling keeps to 50,000 requests and 95 MB.',
  ],
};
