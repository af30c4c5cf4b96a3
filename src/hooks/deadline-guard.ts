import { isDeadline } from './deadline.ts';
import { patch } from './patch-registry.ts';
import { sharedState } from './state.ts';

/**
 * Keeps a client's own deadline from ending a captured call. Not answering the abort is not enough:
 * some clients look at their signal when the answer arrives. So `abort()` of a captured signal is
 * swallowed when it comes straight from a timer; called by anything else, it aborts.
 *
 * "Straight" is counted: a user's `setTimeout(() => controller.abort())` reaches the client's own
 * controller through a listener, inside of another abort, and that is a cancel.
 *
 * @returns the undo.
 */
export function guardAborts(): () => void {
  const wrapAbort = (original: AbortController['abort']) => {
    return function abort(this: AbortController, ...parameters: [reason?: unknown]) {
      const state = sharedState();
      const captured = state.capturedSignals.has(this.signal);
      if (captured && state.abortDepth === 0 && isDeadline(parameters[0])) return;
      state.abortDepth += 1;
      try {
        Reflect.apply(original, this, parameters);
      } finally {
        state.abortDepth -= 1;
      }
    };
  };
  const name = 'AbortController.prototype.abort';
  return patch(AbortController.prototype, 'abort', wrapAbort, name);
}

/** From here on, a deadline does not abort this signal. */
export function shield(signal: AbortSignal): void {
  sharedState().capturedSignals.add(signal);
}

export function unshield(signal: AbortSignal): void {
  sharedState().capturedSignals.delete(signal);
}

/**
 * Whether the abort that is being told about right now is a client's deadline. A signal that no
 * controller of ours guards (`AbortSignal.timeout`, the signal of a `Request`) says so only now.
 * `hops`: how many aborts lie between the timer and the signal; a `Request` adds one of its own.
 */
export function isStraightDeadline(reason: unknown, hops = 1): boolean {
  return sharedState().abortDepth <= hops && isDeadline(reason);
}

/** The signal has been aborted by a deadline all the same: let it look as if it had not. */
export function mask(signal: AbortSignal): void {
  Object.defineProperties(signal, {
    aborted: { configurable: true, get: () => false },
    reason: { configurable: true, get: () => undefined },
    throwIfAborted: { configurable: true, value: () => undefined },
  });
}
