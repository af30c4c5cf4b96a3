import { patch } from '../patch-registry.ts';

/** The newest timer that was set in the synchronous stretch of code that runs right now. */
let newest: NodeJS.Timeout | undefined;

/**
 * Notices timers, for `--detach`: most SDKs set one of ten minutes for each call, which would hold a
 * program for as long although it has nothing left to do.
 *
 * @returns the undo.
 */
export function watchClientTimers(): () => void {
  const wrap = (original: typeof setTimeout) =>
    function setTimeout(this: unknown, ...parameters: Parameters<typeof original>) {
      const timer = Reflect.apply(original, this, parameters);
      if (newest === undefined) queueMicrotask(forget);
      newest = timer;
      return timer;
    } as typeof setTimeout;
  return patch(globalThis, 'setTimeout', wrap, 'globalThis.setTimeout');
}

/**
 * Lets the process end before the time limit that a client has just set for its call: SDKs set the timer
 * and call `fetch` in one go. The timer itself still fires.
 */
export function releaseClientTimer(): void {
  newest?.unref();
  newest = undefined;
}

function forget(): void {
  newest = undefined;
}
