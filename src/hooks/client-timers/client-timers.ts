import { isGlobalLocked } from '../install.ts';
import { patch } from '../patch-registry.ts';
import { sharedState } from '../state.ts';

/**
 * Shorter timers are left alone, in milliseconds: they hold a program for a moment only, and may as well be
 * the program's own.
 */
const shortest = 10_000;

/**
 * For `--detach`: most SDKs set a timer of ten minutes for each call, which would hold a program for as long
 * although it has nothing left to do. They set it and call `fetch` in one go, so the newest timer of the
 * synchronous stretch of code that makes a captured call is its time limit. It still fires, but does not keep
 * the process up any more.
 */
export function watchClientTimers(): void {
  let newest: NodeJS.Timeout | undefined;
  const wrap = (original: typeof setTimeout) =>
    function setTimeout(this: unknown, ...parameters: Parameters<typeof original>) {
      const timer = Reflect.apply(original, this, parameters);
      const [, delay] = parameters;
      if (!(Number(delay) >= shortest)) return timer;
      if (newest === undefined) queueMicrotask(forget);
      newest = timer;
      return timer;
    } as typeof setTimeout;
  function forget(): void {
    newest = undefined;
  }
  try {
    patch(globalThis, 'setTimeout', wrap, 'globalThis.setTimeout');
  } catch (error) {
    // Then the program leaves later, when its timers have fired.
    if (!isGlobalLocked(error)) throw error;
  }
  sharedState().releaseClientTimer = () => {
    newest?.unref();
    forget();
  };
}
