/**
 * What the work brings, or at once the reason of the signal. The work itself is not ended by this: it has to look at the
 * signal, too, where it can.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
  }
}
