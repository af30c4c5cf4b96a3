import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';

/** Deletes what a batch left at the provider, unless one of its scopes wants to keep it. */
export async function cleanUp({ report }: EngineContext, batch: Batch): Promise<void> {
  for (const { cleanup } of batch.scopes) if (!cleanup) return;
  try {
    await batch.batcher.cleanup(batch.wire, batch.handle);
  } catch (error) {
    report(`delete the input file of batch ${batch.token}`, error);
  }
}
