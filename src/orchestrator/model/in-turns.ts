import { setImmediate as immediate } from 'node:timers/promises';

/** What a caller does with its answer happens in the same turn. */
const atOnce = 100;

/** Tells many callers: the event loop turns in between, so that the program does not feel it. */
export async function inTurns<T>(
  items: Iterable<T>,
  work: (item: T, index: number) => void,
): Promise<void> {
  let index = 0;
  for (const item of items) {
    if (index % atOnce === atOnce - 1) await immediate();
    work(item, index);
    index += 1;
  }
}
