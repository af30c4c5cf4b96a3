import type { Limits } from '../batcher.ts';
import { parasailInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';

/**
 * Parasail's batches: OpenAI's, of half the size.
 *
 * @example
 * await batchify(askAll, { only: 'parasail' });
 */
export class ParasailBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = parasailInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 95_000_000,
    itemBytes: 95_000_000,
  };
}

const notes: ProviderNotes = {
  title: 'Parasail',
  foundBy: 'its input file',
  remarks: ['Batches run most models of Hugging Face by their names.'],
  unconfirmed: [],
};
