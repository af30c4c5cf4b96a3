import { setImmediate as immediate } from 'node:timers/promises';

/** About a millisecond of telling callers. */
const atOnce = 500;

/** No synchronous slice of ours may be felt by the program: the event loop turns in between. */
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
