import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Settlement } from '../../ledger.ts';
import type { Pace } from './pace.ts';

/** Rows per transaction: keeps one synchronous slice within a few milliseconds. */
export const ROWS_PER_TRANSACTION = 500;
const CHARACTERS_PER_TRANSACTION = 4_000_000;

interface SliceOptions<T> {
  /** How much text an item brings. */
  readonly sizeOf?: (item: T) => number;
  /** Says how many rows, instead. */
  readonly pace?: Pace;
}

/** Runs `work` on slices, one after the other, and lets the event loop turn in between. */
export async function inSlices<T>(
  items: readonly T[],
  work: (slice: readonly T[], isLast: boolean) => Promise<void>,
  { sizeOf = () => 0, pace }: SliceOptions<T> = {},
): Promise<void> {
  let start = 0;
  do {
    if (start > 0) await nextTurn();
    const end = sliceEnd(items, start, start + (pace?.rows ?? ROWS_PER_TRANSACTION), sizeOf);
    const whole = start === 0 && end === items.length;
    await work(whole ? items : items.slice(start, end), end === items.length);
    start = end;
  } while (start < items.length);
}

function sliceEnd<T>(
  items: readonly T[],
  start: number,
  limit: number,
  sizeOf: (item: T) => number,
): number {
  const most = Math.min(items.length, limit);
  let characters = 0;
  for (let index = start; index < most; index += 1) {
    characters += sizeOf(items[index] as T);
    if (characters > CHARACTERS_PER_TRANSACTION && index > start) return index;
  }
  return most;
}

/** How much text a settlement brings, for slices of even size. */
export function settlementSize(settlement: Settlement): number {
  return settlement.is === 'answer' ? settlement.answer.body.length : 0;
}

export { nextTurn };
