export interface IdleWatch {
  touch(): void;
  stop(): void;
}

/**
 * Calls back once nothing has moved for `milliseconds`. Runs on real time and not on the injected
 * clock: sockets move in real time, so a test that turns its clock by a day must not break them.
 */
export function watchIdle(milliseconds: number, onIdle: () => void): IdleWatch {
  let stopped = false;
  const timer = setTimeout(onIdle, milliseconds);
  // The socket keeps the process open while something is under way; the watch alone must not.
  timer.unref();
  return {
    touch() {
      if (!stopped) timer.refresh();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
