import { setTimeout as sleep } from 'node:timers/promises';
import { explainStoreError, isBusy, unusable } from './store-errors.ts';

/**
 * SQLite's own busy timeout blocks the event loop, so it is kept to a few milliseconds and the rest of
 * the waiting is done here. Jittered: two processes that met once should not meet again.
 */
export async function retryBusy<T>(path: string, patience: number, work: () => T): Promise<T> {
  const giveUpAt = performance.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw explainStoreError(path, error);
      if (performance.now() >= giveUpAt) {
        throw unusable(
          path,
          `another process has held its lock for ${Math.round(patience / 1000)} s. ` +
            'End that process (or the tool that has the file open), or choose another store.',
          error,
        );
      }
    }
    await sleep(2 + Math.random() * 18);
  }
}
