/**
 * `node --import batchling/register program.js`: the whole process is one scope, configured by
 * `BATCHLING_*` variables. Until the first LLM call only the hooks are in place.
 *
 * @module
 */
import { isMainThread } from 'node:worker_threads';
import { detachVariable, gatewayVariable, reportVariable } from './base/run-variables.ts';
import { hideGateway } from './hooks/hide-gateway.ts';
import { isGlobalLocked } from './hooks/patch-registry.ts';
import { sharedState } from './hooks/state.ts';
import { Detach } from './scope/leaving/detach.ts';
import { handleInterrupts } from './scope/leaving/interrupts.ts';
import { allowOneMoreListener } from './scope/leaving/one-more-listener.ts';
import { Scope } from './scope/scope.ts';
import { explainTopLevelAwait } from './scope/top-level-await.ts';

let detach: Detach | undefined;
if (sharedState().processScope === undefined) {
  // Worker threads and child processes inherit it: together they are one run.
  process.env.BATCHLING_RUN ||= crypto.randomUUID();
  if (process.env[gatewayVariable]) hideGateway(process.env[gatewayVariable]);
  if (process.env[detachVariable] === 'true') detach = new Detach();
  // Node tells signals to the main thread only.
  if (process.env[reportVariable] && isMainThread) {
    handleInterrupts();
    explainTopLevelAwait();
  }
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
  const close = () => {
    if (detach?.isWaiting) return;
    process.off('beforeExit', close);
    restoreLimit();
    serveProcess();
    scope.close().catch((error: unknown) => {
      process.exitCode = 1;
      process.emitWarning(error instanceof Error ? error : String(error));
    });
  };
  process.on('beforeExit', close);
}
