import type { Limits } from '../batcher.ts';
import { ovhcloudInfo } from '../compatible/compatible-info.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import type { ProviderInfo } from '../provider-info.ts';
import type { ProviderNotes } from '../provider-notes.ts';
import { daysUpTo } from '../shared/windows.ts';

const hour = 3_600_000;

/**
 * OVHcloud's batches: OpenAI's, within up to three days.
 *
 * @example
 * await batchify(askAll, { completionWindow: '48h', only: 'ovhcloud' });
 */
export class OVHcloudBatcher extends OpenAIBatcher {
  override readonly info: ProviderInfo = ovhcloudInfo;
  override readonly notes: ProviderNotes = notes;
  protected override readonly ownLimits: Partial<Limits> = {
    bytes: 95_000_000,
    itemBytes: 95_000_000,
    windows: daysUpTo(3),
    outlives: 76 * hour,
  };
}

const notes: ProviderNotes = {
  title: 'OVHcloud AI Endpoints',
  foundBy: 'its input file',
  remarks: [
    '`completionWindow` may be 24h, 48h or 72h; what has not run by then expires, and is sent again once.',
    'Batches need a key, which a few ordinary calls can do without: a call without one is answered with the 401 of its batch.',
  ],
  unconfirmed: [
    'The size of a batch: batchling keeps to 50,000 requests and 95 MB.',
    'Whether embeddings can be batched: batchling makes them as ordinary calls.',
  ],
};
