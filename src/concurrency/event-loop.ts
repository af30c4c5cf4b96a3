import { setImmediate } from 'node:timers/promises';

/** No synchronous slice of ours should be felt by the program; callers add their own work to it. */
const sliceMilliseconds = 5;
/** A caller that gets its answer goes on in the same turn, for as long as it likes. */
const callersPerTurn = 100;

/** Lets the event loop turn once. */
export function nextTurn(): Promise<void> {
  return setImmediate();
}

/** A long loop asks whether its slice is over, and if so lets the event loop turn. */
export class Slice {
  #until = performance.now() + sliceMilliseconds;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  async next(): Promise<void> {
    await nextTurn();
    this.#until = performance.now() + sliceMilliseconds;
  }
}

/** Does something for each item, and lets the event loop turn in between. */
export async function inTurns<T>(
  items: Iterable<T>,
  work: (item: T, index: number) => void,
): Promise<void> {
  let index = 0;
  for (const item of items) {
    if (index % callersPerTurn === callersPerTurn - 1) await nextTurn();
    work(item, index);
    index += 1;
  }
}
