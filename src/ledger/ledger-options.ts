import type { Clock } from '../types.ts';

/** What stays of a final request: its answer, its body too, or nothing once its owner has left. */
export type Keep = 'answers' | 'all' | 'none';

export interface LedgerOptions {
  /** Only read for the moments that are stored; waiting for locks is the operating system's time. */
  readonly clock?: Pick<Clock, 'now'>;
  readonly keep?: Keep;
}
