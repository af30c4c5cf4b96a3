/**
 * `node --import batchling/register program.js`: the whole process is one scope, configured by
 * `BATCHLING_*` variables. Until an LLM request appears, nothing but the patches is there.
 *
 * @module
 */
import { BatchingContext } from './context.ts';
import { isLocked } from './hooks/early.ts';
import { sharedState } from './hooks/state.ts';

const state = sharedState();
if (state.processScope === undefined) {
  // Worker threads and child processes inherit it: all of them are one run.
  process.env.BATCHLING_RUN ||= crypto.randomUUID();
  const scope = openProcessScope();
  state.processScope = scope;
  // The program has nothing left to do: what still waits is flushed and answered, then it ends.
  process.once('beforeExit', () => {
    scope?.close().catch((error: unknown) => {
      process.exitCode = 1;
      process.emitWarning(error instanceof Error ? error : String(error));
    });
  });
}

/**
 * A locked global does not keep the program from running: every Node process below this one gets
 * here, and most of them have nothing to batch. Where a bypass is an error, it does.
 */
function openProcessScope(): BatchingContext | undefined {
  try {
    return new BatchingContext(undefined, true);
  } catch (error) {
    if (!isLocked(error) || process.env.BATCHLING_BYPASS === 'error') throw error;
    process.emitWarning(`${error.message} Nothing is batched in this process.`, 'BatchlingWarning');
    return undefined;
  }
}
