import type { Limits } from '../batcher.ts';
import { nebiusInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';

/**
 * Nebius Token Factory's batches: OpenAI's, and very large ones.
 *
 * @example
 * await batchify(askAll, { only: 'nebius' });
 */
export class NebiusBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = nebiusInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    items: 5_000_000,
    bytes: 9_500_000_000,
    itemBytes: 190_000_000,
  };
}

const notes: ProviderNotes = {
  title: 'Nebius Token Factory',
  foundBy: 'its input file',
  remarks: [
    'A batch may hold 5,000,000 requests and 10 GB; batchling sends 10,000 unless `batchSize` says otherwise.',
  ],
  unconfirmed: [],
};
