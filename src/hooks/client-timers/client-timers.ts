import type { ClientTimer } from '../border.ts';
import { isGlobalLocked, patch } from '../patch-registry.ts';
import { sharedState } from '../state.ts';

/**
 * Shorter timers are left alone, in milliseconds: they hold a program for a moment only, and may as well be
 * the program's own.
 */
const shortest = 10_000;

/** A library for tests may replace the global one. */
const { queueMicrotask } = globalThis;

/**
 * Notes the timers that clients set as time limits. Most SDKs set one of ten minutes for each call, which would
 * hold the process for as long although nobody waits for the call any more. They set it and call `fetch` in one
 * go, so the newest timer of the synchronous stretch of code that makes a captured call is its time limit.
 *
 * @returns the undo.
 */
export function watchClientTimers(): () => void {
  const wrap = (original: typeof setTimeout) =>
    function setTimeout(this: unknown, ...parameters: Parameters<typeof original>) {
      const timer = Reflect.apply(original, this, parameters);
      const [, delay] = parameters;
      if (typeof delay === 'number' && delay >= shortest) note(timer);
      return timer;
    } as typeof setTimeout;
  try {
    return patch(globalThis, 'setTimeout', wrap, 'globalThis.setTimeout');
  } catch (error) {
    // Then a program ends later, when its timers have fired.
    if (!isGlobalLocked(error)) throw error;
    return () => undefined;
  }
}

/** The time limit of the call that is being made right now. */
export function takeClientTimer(): ClientTimer | undefined {
  const timer = sharedState().newestTimer;
  forget();
  return timer;
}

function note(timer: ClientTimer): void {
  const state = sharedState();
  if (state.newestTimer === undefined) queueMicrotask(forget);
  state.newestTimer = timer;
}

function forget(): void {
  sharedState().newestTimer = undefined;
}
