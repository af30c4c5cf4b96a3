/**
 * `node --import batchling/register program.js`: the whole process is one scope, configured by
 * `BATCHLING_*` variables. Until an LLM request appears, nothing but the patch of `fetch` is there.
 *
 * @module
 */
import { BatchingContext } from './context.ts';
import { sharedState } from './hooks/state.ts';

const state = sharedState();
if (state.processScope === undefined) {
  const scope = new BatchingContext(undefined, true);
  state.processScope = scope;
  // The program has nothing left to do: what still waits is flushed and answered, then it ends.
  process.once('beforeExit', () => {
    scope.close().catch((error: unknown) => {
      process.exitCode = 1;
      process.emitWarning(error instanceof Error ? error : String(error));
    });
  });
}
