import { nextTurn } from '../../concurrency/event-loop.ts';
import type { Settlement } from '../ledger.ts';

/** Keeps one transaction of SQLite, which blocks the event loop, within a few milliseconds. */
export const ROWS_PER_TRANSACTION = 500;
const CHARACTERS_PER_TRANSACTION = 1_000_000;

interface SliceOptions<T> {
  readonly rows?: number;
  readonly characters?: number;
  /** How much text an item has. */
  readonly sizeOf?: (item: T) => number;
}

/**
 * Runs `work` on slices, one after the other, and lets the event loop turn in between. For no items it
 * runs once, with none.
 */
export async function inSlices<T>(
  items: readonly T[],
  work: (slice: readonly T[], isLast: boolean) => Promise<void>,
  options: SliceOptions<T> = {},
): Promise<void> {
  let start = 0;
  do {
    if (start > 0) await nextTurn();
    const end = sliceEnd(items, start, options);
    const whole = start === 0 && end === items.length;
    await work(whole ? items : items.slice(start, end), end === items.length);
    start = end;
  } while (start < items.length);
}

function sliceEnd<T>(items: readonly T[], start: number, options: SliceOptions<T>): number {
  const { rows = ROWS_PER_TRANSACTION, characters = CHARACTERS_PER_TRANSACTION } = options;
  const { sizeOf = () => 0 } = options;
  const most = Math.min(items.length, start + rows);
  let size = 0;
  for (let index = start; index < most; index += 1) {
    size += sizeOf(items[index] as T);
    if (size > characters && index > start) return index;
  }
  return most;
}

/** How much text a settlement has, for slices of even size. */
export function settlementSize(settlement: Settlement): number {
  return settlement.is === 'answer' ? settlement.answer.body.length : 0;
}
