import type { BatchifyOptions } from '../../src/index.ts';

/** So many calls are sent together, and none before: whatever the machine does, and whichever scope comes first. */
export function together(count: number): BatchifyOptions {
  return { batchSize: count, window: '1h', maxWindow: '1h' };
}
