/**
 * `node --import batchling/register program.js`: the whole process is one scope, configured by
 * `BATCHLING_*` variables. Until an LLM request appears, nothing but the patches is there.
 *
 * @module
 */
import { isGlobalLocked } from './hooks/install.ts';
import { sharedState } from './hooks/state.ts';
import { Scope } from './scope/scope.ts';

if (sharedState().processScope === undefined) {
  // Worker threads and child processes inherit it: all of them are one run.
  process.env.BATCHLING_RUN ||= crypto.randomUUID();
  serveProcess();
}

function serveProcess(): void {
  const scope = openScope();
  scope?.serveProcess(() => closeBeforeExit(scope));
}

/**
 * A locked global does not keep the program from running: every Node process below this one gets
 * here, and most of them have nothing to batch. Where a bypass is an error, it does.
 */
function openScope(): Scope | undefined {
  try {
    return new Scope(undefined, true);
  } catch (error) {
    if (!isGlobalLocked(error) || process.env.BATCHLING_BYPASS === 'error') throw error;
    process.emitWarning(`${error.message} Nothing is batched in this process.`, 'BatchlingWarning');
    return undefined;
  }
}

/**
 * When the program has nothing left to do, what it leaves in the ledger is brought to its end. Closing
 * takes turns of the event loop, after which Node says `beforeExit` again, to all who listen: so a process
 * without a captured call has no listener of ours. Calls made from then on, perhaps by the program's own
 * listeners, belong to the next scope.
 */
function closeBeforeExit(scope: Scope): void {
  const takeBack = allowOneListenerMore();
  process.once('beforeExit', () => {
    takeBack();
    serveProcess();
    scope.close().catch((error: unknown) => {
      process.exitCode = 1;
      process.emitWarning(error instanceof Error ? error : String(error));
    });
  });
}

/** Node warns of a leak at the eleventh listener: ours must not be the one that makes it so many. */
function allowOneListenerMore(): () => void {
  const most = process.getMaxListeners();
  // None means that there is no limit.
  if (most > 0) process.setMaxListeners(most + 1);
  return () => {
    // Unless the program has chosen another limit meanwhile.
    if (most > 0 && process.getMaxListeners() === most + 1) process.setMaxListeners(most);
  };
}
