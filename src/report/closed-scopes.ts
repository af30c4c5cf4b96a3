import { addStats, emptyStats, type Stats } from '../orchestrator/stats.ts';
import { counted, summaryLine } from './summary.ts';

/** A scope that has ended. */
export interface Closed {
  readonly stats: Stats;
  /** Tokens of its batches. */
  readonly batches: ReadonlySet<string>;
}

/** One summary for all of them. A batch that they share counts once. */
export function closedLine(closed: readonly Closed[]): string {
  const sum = emptyStats();
  const batches = new Set<string>();
  for (const one of closed) {
    addStats(sum, one.stats);
    for (const token of one.batches) batches.add(token);
  }
  sum.batches.submitted = batches.size;
  const line = summaryLine(sum);
  return closed.length === 1 ? line : `${counted(closed.length, 'scope')} closed: ${line}`;
}
