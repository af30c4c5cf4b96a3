import { setMaxListeners } from 'node:events';
import { LeaseLostError } from '../base/errors.ts';
import type { Clock, Logger } from '../base/types.ts';
import type { Batcher } from '../batchers/batcher.ts';
import type { BackgroundWork } from '../concurrency/background-work.ts';
import type { HttpClient } from '../http/client.ts';
import type { Ledger, PruneQuery } from '../ledger/ledger.ts';
import { Mailbox } from '../webhooks/mailbox.ts';
import type { AbandonedRequests } from './capture/abandoned-requests.ts';
import type { SplitHeaders } from './capture/credentials.ts';
import type { OccurrenceCount } from './capture/occurrences.ts';
import { NotedTroubles } from './events/noted-troubles.ts';
import { Troubles } from './events/troubles.ts';
import type { EngineScope } from './model/call.ts';
import type { EngineContext, EngineOwner } from './model/engine-context.ts';

/** What an engine is opened with. */
export interface EngineOptions {
  readonly ledger: Ledger;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly run: string;
  /**
   * How often this run has asked each fingerprint. `undefined`: other processes belong to the same
   * run, so the ledger counts for all of them.
   */
  readonly occurrences: OccurrenceCount | undefined;
  /** Each account has answers of its own: the clients that ask are not one user. */
  readonly accountsApart?: boolean;
  readonly abandoned: AbandonedRequests;
  /** Budgets are for a day by UTC, and not for the run. */
  readonly budgetPerDay?: boolean;
  /** The ledger outlives the process. */
  readonly isStored: boolean;
  /** What was asked is kept beside the answers: the option `keep` is `"all"`. */
  readonly keepsBodies?: boolean;
  /** The receiver of webhooks. Messages that earlier processes have left are sent there at once. */
  readonly webhook?: string | undefined;
  /** Tells a person, once for each text. */
  readonly warn?: (text: string) => void;
  /** What of the ledger is too old or too much. */
  readonly prune: PruneQuery;
}

/** What a batch is resumed with that no call asks for. */
export interface Resumer {
  readonly batcher: Batcher;
  /** The headers as a call of the same account would carry them. */
  readonly headers: SplitHeaders;
  readonly scope: EngineScope;
}

/** What the modules of an engine share. */
export function newContext(
  options: EngineOptions,
  owner: EngineOwner,
  stopped: AbortSignal,
  background: BackgroundWork,
): EngineContext {
  const { ledger, clock, logger, budgetPerDay, warn = (text) => logger.warn(text) } = options;
  // Thousands of batches may wait at once; Node would warn at the eleventh.
  setMaxListeners(0, stopped);
  const report = (what: string, error: unknown) => {
    if (!stopped.aborted) logger.warn(`batchling could not ${what}`, { error });
  };
  const inBackground = (what: string, work: Promise<unknown>) =>
    background.add(work, (error) => {
      if (!(error instanceof LeaseLostError)) report(what, error);
    });
  const noted = new NotedTroubles((texts) => ledger.troubled(owner.id, texts));
  return {
    ledger,
    owner,
    clock,
    logger,
    purse: () =>
      budgetPerDay ? `day ${new Date(clock.now()).toISOString().slice(0, 10)}` : undefined,
    batches: new Map(),
    stopped,
    troubles: new Troubles(clock, logger, (texts) =>
      inBackground('note in the ledger what is in the way', noted.note(texts)),
    ),
    mailbox: new Mailbox({ outbox: ledger.outbox, salt: ledger.salt, clock, logger, warn }),
    report,
    background: inBackground,
  };
}
