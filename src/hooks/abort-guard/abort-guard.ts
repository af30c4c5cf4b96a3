import { executionAsyncResource } from 'node:async_hooks';
import { patch } from '../patch-registry.ts';
import { sharedState } from '../state.ts';

/**
 * Keeps a client's own deadline from ending a captured call. Ignoring the abort is not enough: some
 * clients look at their signal when the answer arrives. So `abort()` of a captured call's signal is
 * held back when a timer calls it directly; called by anything else, it aborts at once.
 *
 * "Directly" is counted. A user's `setTimeout(() => controller.abort())` reaches the client's own
 * controller through a listener, inside of another `abort()`, and that is the user's cancel.
 *
 * @returns the undo.
 */
export function guardAborts(): () => void {
  const wrapAbort = (original: AbortController['abort']) => {
    return function abort(this: AbortController, ...parameters: [reason?: unknown]) {
      const state = sharedState();
      const { signal } = this;
      const [reason] = parameters;
      const watch = state.watchedSignals.get(signal);
      const abortNow = () => Reflect.apply(original, this, parameters);
      const isOurs = watch !== undefined && !state.sharedSignals.has(signal);
      if (isOurs && isClientDeadline(reason, 0)) {
        watch.holdBack(reason, () =>
          counting('lateDeadlines', () => counting('abortDepth', abortNow)),
        );
      } else counting('abortDepth', abortNow);
    };
  };
  const name = 'AbortController.prototype.abort';
  return patch(AbortController.prototype, 'abort', wrapAbort, name);
}

function counting(count: 'abortDepth' | 'lateDeadlines', work: () => void): void {
  const state = sharedState();
  state[count] += 1;
  try {
    work();
  } finally {
    state[count] -= 1;
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

/** Marks a signal that is used outside of captured calls as well: a timer's abort is not deferred for it. */
export function shareSignal(signal: AbortSignal): void {
  sharedState().sharedSignals.add(signal);
}

/** Sends a call that is not captured: it must see the true state of its signal. */
export function sendWithSignal<T>(signal: AbortSignal, send: () => T): T {
  shareSignal(signal);
  const watch = sharedState().watchedSignals.get(signal);
  return watch === undefined ? send() : watch.reveal(send);
}
