import { patch } from '../patch-registry.ts';
import { sharedState } from '../state.ts';
import { isDeadline } from './timer-abort.ts';

/**
 * Keeps a client's own deadline from ending a captured call. Not answering the abort is not enough:
 * some clients look at their signal when the answer arrives. So `abort()` of a captured signal is
 * held back when it comes straight from a timer; called by anything else, it aborts.
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
      const { signal } = this;
      const [reason] = parameters;
      const watch = state.watchedSignals.get(signal);
      const abortNow = () => Reflect.apply(original, this, parameters);
      const isMine = watch !== undefined && !state.sharedSignals.has(signal);
      if (isMine && isStraightDeadline(reason, 0)) {
        watch.holdBack(reason, () => during('lateDeadlines', () => during('abortDepth', abortNow)));
      } else during('abortDepth', abortNow);
    };
  };
  const name = 'AbortController.prototype.abort';
  return patch(AbortController.prototype, 'abort', wrapAbort, name);
}

function during(count: 'abortDepth' | 'lateDeadlines', work: () => void): void {
  const state = sharedState();
  state[count] += 1;
  try {
    work();
  } finally {
    state[count] -= 1;
  }
}

/**
 * Whether the abort that is being told about right now is a client's deadline. A signal that no
 * controller of ours guards (`AbortSignal.timeout`, the signal of a `Request`) says so only now.
 * `hops`: how many aborts lie between the timer and the signal; a `Request` adds one of its own.
 */
export function isStraightDeadline(reason: unknown, hops = 1): boolean {
  const { abortDepth, lateDeadlines } = sharedState();
  return abortDepth <= hops && (lateDeadlines > 0 || isDeadline(reason));
}

/** Something else than a captured call uses the signal, and hears of a timer at once. */
export function shareSignal(signal: AbortSignal): void {
  sharedState().sharedSignals.add(signal);
}

/** Passes a call on that is not captured: it has to see its signal as it is. */
export function passOnWith<T>(signal: AbortSignal, send: () => T): T {
  shareSignal(signal);
  const watch = sharedState().watchedSignals.get(signal);
  return watch === undefined ? send() : watch.reveal(send);
}
