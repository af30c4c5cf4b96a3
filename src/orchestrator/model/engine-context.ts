import type { Clock, Logger } from '../../base/types.ts';
import type { Ledger, OwnerId } from '../../ledger/ledger.ts';
import type { Mailbox } from '../../webhooks/mailbox.ts';
import type { Troubles } from '../events/troubles.ts';
import type { Batch } from './batch.ts';

/** The engine as the ledger knows it. A ledger may forget an owner: then the engine joins again. */
export interface EngineOwner {
  readonly id: OwnerId;
  /** Does it as the owner; if the owner is lost, joins again and does it once more. */
  run<T>(work: (owner: OwnerId) => Promise<T>): Promise<T>;
}

/** What the modules of one engine share. */
export interface EngineContext {
  readonly ledger: Ledger;
  /** The engine joins again, as another owner, when the ledger has forgotten it. */
  readonly owner: EngineOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What budgets are for, where that is not the run. */
  purse(): string | undefined;
  /** Batches this process works on, by their id in the ledger. */
  readonly batches: Map<number, Batch>;
  /** Set when the engine goes down: loops end, nothing new is sent. */
  readonly stopped: AbortSignal;
  /** What is in the way at the providers, for people. */
  readonly troubles: Troubles;
  /** Webhooks that are told of what happens. */
  readonly mailbox: Mailbox;
  /** Something went wrong that is tried again or that nobody waits for. */
  report(what: string, error: unknown): void;
  /** Work nobody waits for; the engine does before it closes. Its failure is reported as `what`. */
  background(what: string, work: Promise<unknown>): void;
}
