import type { Ledger, OwnerId } from '../../ledger/ledger.ts';
import type { Clock, Logger } from '../../types.ts';
import type { ActiveBatch } from './batch.ts';
import type { Troubles } from './troubles.ts';

/** What the modules of one engine share. */
export interface Workshop {
  readonly ledger: Ledger;
  /** Another one after `joinAgain`. */
  owner: OwnerId;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Batches this process works on, by their id in the ledger. */
  readonly batches: Map<number, ActiveBatch>;
  /** Set when the engine goes down: loops end, nothing new is sent. */
  readonly stopped: AbortSignal;
  /** What is in the way at the providers, for people. */
  readonly troubles: Troubles;
  /** The ledger counts this engine's owner as gone: from now on it works as a new one. */
  joinAgain(): Promise<void>;
  /** Something went wrong that is tried again or that nobody waits for. */
  report(what: string, error: unknown): void;
  /** Another owner has this batch now: its callers wait for the answers of that one. */
  rejoin(batch: ActiveBatch): void;
  /** Work nobody waits for; the engine does before it closes. Its failure is reported as `what`. */
  background(what: string, work: Promise<unknown>): void;
}
