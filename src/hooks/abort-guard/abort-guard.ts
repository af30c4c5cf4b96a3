import { executionAsyncResource } from 'node:async_hooks';
import { addOwner } from '../add-owner.ts';
import type { WatchedSignal } from '../border.ts';
import { patch } from '../patch-registry.ts';
import { sharedState } from '../state.ts';

const guard: { owners: number; undoPatch: (() => void) | undefined } = {
  owners: 0,
  undoPatch: undefined,
};

/**
 * Keeps a client's own deadline from ending a captured call. Ignoring the abort is not enough: some
 * clients look at their signal when the answer arrives. So `abort()` of a captured call's signal is
 * held back when a timer calls it directly; called by anything else, it aborts at once.
 *
 * "Directly" is counted. A user's `setTimeout(() => controller.abort())` reaches the client's own
 * controller through a listener, inside of another `abort()`, and that is the user's cancel.
 *
 * `abort()` is replaced with the first captured call that has a signal; until then, its stack is native.
 *
 * @returns the undo.
 */
export function guardAborts(): () => void {
  // Only tried: whether it can be replaced is known when a scope opens.
  patchAbort()();
  return addOwner(guard, () => {
    guard.undoPatch?.();
    guard.undoPatch = undefined;
  });
}

/** A captured call has a signal. */
export function startGuarding(): void {
  if (guard.owners === 0 || guard.undoPatch !== undefined) return;
  try {
    guard.undoPatch = patchAbort();
  } catch {
    // Locked since the scope was opened: the signal is masked instead, as with `hooks: false`.
  }
}

function patchAbort(): () => void {
  const name = 'AbortController.prototype.abort';
  return patch(AbortController.prototype, 'abort', wrapAbort, name);
}

function wrapAbort(original: AbortController['abort']): AbortController['abort'] {
  // The native `abort` is called from here: each function in between would be a frame in its stack.
  return function abort(this: AbortController, ...parameters: [reason?: unknown]) {
    const state = sharedState();
    const [reason] = parameters;
    const watch = watchedBy(this);
    if (watch !== undefined && isClientDeadline(reason, 0)) {
      watch.holdBack(reason, () => abortLate(() => Reflect.apply(original, this, parameters)));
      return;
    }
    state.abortDepth += 1;
    try {
      Reflect.apply(original, this, parameters);
    } finally {
      state.abortDepth -= 1;
    }
  };
}

function abortLate(abort: () => void): void {
  const state = sharedState();
  state.lateDeadlines += 1;
  state.abortDepth += 1;
  try {
    abort();
  } finally {
    state.lateDeadlines -= 1;
    state.abortDepth -= 1;
  }
}

const nativeSignal = Object.getOwnPropertyDescriptor(AbortController.prototype, 'signal')?.get;

/** The watch of a controller's signal, unless others use that signal, too. */
function watchedBy(controller: AbortController): WatchedSignal | undefined {
  const { watchedSignals, sharedSignals } = sharedState();
  try {
    // Not `controller.signal`, which may run a getter of the user's.
    const signal = nativeSignal?.call(controller) as AbortSignal;
    return sharedSignals.has(signal) ? undefined : watchedSignals.get(signal);
  } catch {
    // Not a controller: the native `abort` says so.
    return undefined;
  }
}

/**
 * Whether the abort that is happening right now is a client's deadline. Signals without a guarded
 * controller (`AbortSignal.timeout`, the signal of a `Request`) can be judged only in their listener.
 *
 * @param hops how many aborts may lie between the timer and the signal; a `Request` adds one.
 */
export function isClientDeadline(reason: unknown, hops = 1): boolean {
  const { abortDepth, lateDeadlines } = sharedState();
  return abortDepth <= hops && (lateDeadlines > 0 || comesFromTimer(reason));
}

const Timeout = (() => {
  const timer = setTimeout(() => undefined, 0);
  clearTimeout(timer);
  return timer.constructor;
})();

/** Whether an abort that is happening right now was called by a timer, or names a timeout as its reason. */
export function comesFromTimer(reason: unknown): boolean {
  if (executionAsyncResource() instanceof Timeout) return true;
  const { name, code } = (reason ?? {}) as { name?: unknown; code?: unknown };
  return (
    name === 'TimeoutError' ||
    reason === 'timeout' ||
    code === 'ETIMEDOUT' ||
    code === 'ECONNABORTED'
  );
}
