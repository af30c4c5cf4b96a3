import type { Ledger, OwnerId } from '../../ledger/ledger.ts';
import type { Clock, Logger } from '../../types.ts';
import type { Batch } from './batch.ts';
import type { Troubles } from './troubles.ts';

/** What the modules of one engine share. */
export interface EngineContext {
  readonly ledger: Ledger;
  readonly owner: OwnerId;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Batches this process works on, by their id in the ledger. */
  readonly batches: Map<number, Batch>;
  /** Set when the engine goes down: loops end, nothing new is sent. */
  readonly stopped: AbortSignal;
  /** What is in the way at the providers, for people. */
  readonly troubles: Troubles;
  /** Something went wrong that is tried again or that nobody waits for. */
  report(what: string, error: unknown): void;
  /** Work nobody waits for; the engine does before it closes. Its failure is reported as `what`. */
  background(what: string, work: Promise<unknown>): void;
}
