import type { Clock, Logger } from '../base/types.ts';

/** Tells what stays of a final request: its answer, its body too, or nothing once its owner has left. */
export type Keep = 'answers' | 'all' | 'none';

export interface LedgerOptions {
  /** Read for moments that are stored and for ages. Waiting for locks uses the system's own clock. */
  readonly clock?: Pick<Clock, 'now'>;
  readonly keep?: Keep;
  /** It is told of damage that costs the user something although the ledger goes on. May come often. */
  readonly warn?: (message: string) => void;
  /** It is told of failures that cost nothing now. */
  readonly logger?: Pick<Logger, 'debug' | 'warn'>;
}
