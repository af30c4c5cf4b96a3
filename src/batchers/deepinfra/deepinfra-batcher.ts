import type { Limits } from '../batcher.ts';
import { deepinfraInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';

/**
 * DeepInfra's batches: OpenAI's, a fifth off.
 *
 * @example
 * await batchify(askAll, { only: 'deepinfra' });
 */
export class DeepInfraBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = deepinfraInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 95_000_000,
    itemBytes: 95_000_000,
    windows: { '24h': { word: '24h', priceShare: 0.8 } },
  };
}

const notes: ProviderNotes = {
  title: 'DeepInfra',
  foundBy: 'its input file',
  remarks: ['Batches cost four fifths of the list price.'],
  unconfirmed: ['The size of a batch: batchling keeps to 50,000 requests and 95 MB.'],
};
