import type { Call, Limits } from '../batcher.ts';
import { zhipuInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';

/**
 * Zhipu's batches: OpenAI's under `/v4`.
 *
 * @example
 * await batchify(askAll, { only: 'zhipu' });
 */
export class ZhipuBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = zhipuInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 95_000_000,
    itemBytes: 95_000_000,
  };

  protected override endpointOf({ path }: Call): string {
    return `/v4${path}`;
  }
}

const notes: ProviderNotes = {
  title: 'Zhipu (bigmodel.cn)',
  foundBy: 'its input file',
  remarks: ['Images can be batched at Zhipu, but not by batchling yet.'],
  unconfirmed: ['Whether counts stand in `request_counts` or beside it: batchling reads both.'],
};
