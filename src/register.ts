/**
 * `node --import batchling/register program.js`: the whole process is one scope, configured by
 * `BATCHLING_*` variables. Until the first LLM call only the hooks are in place.
 *
 * @module
 */
import { isGlobalLocked } from './hooks/install.ts';
import { sharedState } from './hooks/state.ts';
import { Scope } from './scope/scope.ts';

if (sharedState().processScope === undefined) {
  // Worker threads and child processes inherit it: together they are one run.
  process.env.BATCHLING_RUN ||= crypto.randomUUID();
  serveProcess();
}

function serveProcess(): void {
  const scope = openScope();
  scope?.serveProcess(() => closeBeforeExit(scope));
}

/**
 * A locked global is a warning here, not an error: every child process that runs Node gets here, and
 * most of them have nothing to batch. With `bypass: "error"` it is an error.
 */
function openScope(): Scope | undefined {
  try {
    return new Scope(undefined, true, 'process');
  } catch (error) {
    if (!isGlobalLocked(error) || process.env.BATCHLING_BYPASS === 'error') throw error;
    process.emitWarning(`${error.message} Nothing is batched in this process.`, 'BatchlingWarning');
    return undefined;
  }
}

/**
 * Closes the scope when the program has nothing left to do. Closing takes turns of the event loop, after
 * which Node emits `beforeExit` again: therefore a process without a captured call gets no listener of
 * ours. Calls made from then on, perhaps by the program's own listeners, belong to the next scope.
 */
function closeBeforeExit(scope: Scope): void {
  const restoreLimit = allowOneMoreListener();
  process.once('beforeExit', () => {
    restoreLimit();
    serveProcess();
    scope.close().catch((error: unknown) => {
      process.exitCode = 1;
      process.emitWarning(error instanceof Error ? error : String(error));
    });
  });
}

/** Node warns of a leak at the eleventh listener: ours must not be the one that causes the warning. */
function allowOneMoreListener(): () => void {
  const limit = process.getMaxListeners();
  // 0: there is no limit.
  if (limit > 0) process.setMaxListeners(limit + 1);
  return () => {
    // Unless the program has set another limit meanwhile.
    if (limit > 0 && process.getMaxListeners() === limit + 1) process.setMaxListeners(limit);
  };
}
