import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { BatchlingError, LeaseLostError } from '../base/errors.ts';
import type { Answer, Clock, Logger } from '../base/types.ts';
import type { Batcher } from '../batchers/batcher.ts';
import { BackgroundWork, withGrace } from '../concurrency/background-work.ts';
import type { HttpClient } from '../http/client.ts';
import type { BatchSummary, Ledger, OpenBatch, PruneQuery, RequestId } from '../ledger/ledger.ts';
import { storedAnswer } from './answer/stored-answer.ts';
import type { AbandonedRequests } from './capture/abandoned-requests.ts';
import { Accounts } from './capture/accounts.ts';
import { ClientRetries } from './capture/client-retries.ts';
import type { SplitHeaders } from './capture/credentials.ts';
import { EngineDepartures } from './capture/departures.ts';
import { Intake } from './capture/intake.ts';
import type { OccurrenceCount } from './capture/occurrences.ts';
import { Spool } from './capture/spool.ts';
import { BatchEndings } from './collect/batch-endings.ts';
import { Collector } from './collect/collector.ts';
import type { Step } from './events/trouble-text.ts';
import { Troubles } from './events/troubles.ts';
import type { Batch } from './model/batch.ts';
import type { CallHandle, CapturedCall, EngineScope } from './model/call.ts';
import type { CallEngine } from './model/call-engine.ts';
import type { Caller } from './model/caller.ts';
import type { EngineContext, EngineOwner } from './model/engine-context.ts';
import type { Request } from './model/request.ts';
import { Queues } from './queue/queues.ts';
import { BatchLife } from './submit/batch-life.ts';
import { Budgets } from './submit/budgets.ts';
import { CreateFinder } from './submit/find-create.ts';
import { Permits } from './submit/permit.ts';
import { SubmitProtocol } from './submit/submit-protocol.ts';
import { Submitter } from './submit/submitter.ts';
import { JoinedOwner } from './takeover/joined-owner.ts';
import { OtherOwners } from './takeover/other-owners.ts';
import { Takeover } from './takeover/takeover.ts';
import { Deadlines } from './watch/deadlines.ts';
import { Watcher } from './watch/watcher.ts';

/** The most past batches that a display may know. */
const mostPastBatches = 200;

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

/**
 * Orchestrator, open ledger and pollers: one per process and store, shared by all scopes with the same `keep`
 * and `dispatcher`. It only wires the modules of a call's walk together: intake → queue → submitter → watcher
 * → collector.
 */
export class Engine implements CallEngine {
  readonly isStored: boolean;
  readonly #context: EngineContext;
  readonly #http: HttpClient;
  readonly #accounts: Accounts;
  readonly #queues: Queues;
  readonly #takeover: Takeover;
  readonly #intake: Intake;
  readonly #departures: EngineDepartures;
  readonly #otherOwners: OtherOwners;
  readonly #watcher: Watcher;
  readonly #deadlines: Deadlines;
  readonly #permits: Permits;
  readonly #stop = new AbortController();
  readonly #background = new BackgroundWork();
  #closing: Promise<void> | undefined;

  static async open(options: EngineOptions): Promise<Engine> {
    const { ledger, run } = options;
    const info = { run, host: hostname(), pid: process.pid };
    return new Engine(options, await JoinedOwner.join(ledger, info));
  }

  private constructor(options: EngineOptions, owner: EngineOwner) {
    const { ledger, http, occurrences } = options;
    const context = this.#newContext(options, owner);
    this.isStored = options.isStored;
    this.#context = context;
    this.#http = http;
    const trust = options.accountsApart ? 'unproved' : 'trusted';
    this.#accounts = new Accounts(ledger, http, trust);
    const bodies = new Spool(ledger, { writesAll: options.keepsBodies ?? false });
    const budgets = new Budgets(context);
    const clientRetries = new ClientRetries(
      context.clock,
      options.abandoned,
      (call) => budgets.ofRealtimeCall(call),
      occurrences,
    );
    const queues = new Queues(context, { bodies, clientRetries }, (queue, requests, reason) =>
      submitter.submit(queue, requests, reason),
    );
    const deadlines = new Deadlines(context, (requests) => queues.withdraw(requests));
    const permits = new Permits(context);
    const finder = new CreateFinder(context);
    const protocol = new SubmitProtocol(context, finder);
    const watcher = new Watcher(context);
    const follow = (request: Request) => {
      const { row, occurrence } = request;
      otherOwners.follow(request, { is: 'wait', request: row, occurrence });
    };
    const endings = new BatchEndings(context, {
      send: (queue, requests) => submitter.send(queue, requests),
      withdraw: (requests) => queues.withdraw(requests),
      endDue: (callers) => deadlines.end(callers),
      follow,
    });
    const watching = {
      collector: new Collector(context),
      deadlines,
      watcher,
      lookForTwins: (batch: Batch) => finder.lookForTwins(batch),
    };
    const life = new BatchLife(context, watching, endings);
    const submitter = new Submitter(context, {
      permits,
      budgets,
      protocol,
      life,
      deadlines,
      withdraw: (requests) => queues.withdraw(requests),
      follow,
    });
    const takeover: Takeover = new Takeover(context, {
      finder,
      protocol,
      permits,
      life,
      caughtUp: () => intake.drained(),
    });
    const otherOwners: OtherOwners = new OtherOwners(
      context,
      (id, asker) => takeover.claim(id, asker),
      (callers) => deadlines.end(callers),
    );
    const departures = new EngineDepartures(context, queues, otherOwners);
    const intake: Intake = new Intake(context, {
      accounts: this.#accounts,
      queues,
      spool: bodies,
      clientRetries,
      deadlines,
      departures,
      occurrences,
      accountsApart: options.accountsApart ?? false,
      follow: (request, admission) => otherOwners.follow(request, admission),
    });
    this.#takeover = takeover;
    this.#queues = queues;
    this.#intake = intake;
    this.#departures = departures;
    this.#otherOwners = otherOwners;
    this.#watcher = watcher;
    this.#deadlines = deadlines;
    this.#permits = permits;
    context.background('prune the ledger', ledger.prune(options.prune));
  }

  #newContext(options: EngineOptions, owner: EngineOwner): EngineContext {
    const { ledger, clock, logger, budgetPerDay } = options;
    const stopped = this.#stop.signal;
    // Thousands of batches may wait at once; Node would warn at the eleventh.
    setMaxListeners(0, stopped);
    const report = (what: string, error: unknown) => {
      if (!stopped.aborted) logger.warn(`batchling could not ${what}`, { error });
    };
    return {
      ledger,
      owner,
      clock,
      logger,
      purse: () =>
        budgetPerDay ? `day ${new Date(clock.now()).toISOString().slice(0, 10)}` : undefined,
      batches: new Map(),
      stopped,
      troubles: new Troubles(clock, logger),
      report,
      background: (what, work) =>
        this.#background.add(work, (error) => {
          if (!(error instanceof LeaseLostError)) report(what, error);
        }),
    };
  }

  capture(call: CapturedCall): CallHandle {
    return this.#intake.push(call);
  }

  /** Sends what the scope has waiting, without waiting for company any longer. */
  async flush(scope?: EngineScope): Promise<void> {
    await this.#intake.drained();
    this.#queues.flush(scope);
  }

  /** Waits for ended batches of a scope until they are collected, or need another try at least. */
  async collected(scope: EngineScope): Promise<void> {
    for (const batch of [...this.#context.batches.values()]) {
      if (!batch.scopes.has(scope)) continue;
      // Its last answers may have been read before it had ended.
      while (batch.reading) await batch.reading;
    }
  }

  /** Ends calls of a scope with an answer of ours, and cancels at the provider. */
  async cancel(handles: readonly CallHandle[], message: string): Promise<void> {
    await this.#intake.drained();
    await this.#departures.cancel(handles as readonly Caller[], message);
  }

  /** Random bytes of its ledger that key the hashes of accounts. */
  get salt(): Uint8Array {
    return this.#context.ledger.salt;
  }

  /** The answer to a request that was asked before, if the ledger has it. */
  async storedAnswer(fingerprint: Uint8Array, occurrence: number): Promise<Answer | undefined> {
    return storedAnswer(this.#context, fingerprint, occurrence);
  }

  /** The body of a request that has no answer yet, if it was kept. */
  async storedBody(row: RequestId): Promise<string | undefined> {
    return (await this.#context.ledger.bodies([row])).get(row);
  }

  openBatches(): Promise<readonly BatchSummary[]> {
    return this.#context.ledger.list({ open: true });
  }

  /** How often a step has failed so far. */
  failuresOf(step: Step): number {
    return this.#context.troubles.failuresOf(step);
  }

  /** The newest finished batches of the ledger, for estimates. */
  pastBatches(): Promise<readonly BatchSummary[]> {
    return this.#context.ledger.list({ open: false, limit: mostPastBatches });
  }

  /**
   * Takes over a batch that no call asks for here. `undefined`: another owner has it, or it is over.
   */
  async resume({ id, queue: stored }: OpenBatch, by: Resumer): Promise<Batch | undefined> {
    const { batcher, headers, scope } = by;
    const account = await this.#accounts.open(headers, batcher, stored.base);
    const queue = this.#queues.reopen(stored, { batcher, account, scope });
    return this.#takeover.claim(id, { queue, scope });
  }

  /**
   * What is under way gets a moment to come to its end; what is only waiting is not waited for.
   * `finished: false`: the runs whose batches were worked on are to be continued by their programs.
   */
  close(end = { finished: true }): Promise<void> {
    this.#closing ??= this.#shutDown(async () => {
      await withGrace(this.#context.clock, this.#background.done());
      this.#stopAll();
      return end;
    });
    return this.#closing;
  }

  /**
   * Closes although calls wait: nothing more is sent, and a later run continues. Only a create in flight gets
   * a moment to be recorded.
   */
  leave(): Promise<void> {
    this.#closing ??= this.#shutDown(async () => {
      this.#stopAll();
      const batches = [...this.#context.batches.values()];
      const creating = batches.filter(({ phase }) => phase.name === 'creating');
      const created = Promise.all(creating.map((batch) => batch.created));
      await withGrace(this.#context.clock, Promise.race([created, this.#background.done()]));
      return { finished: false };
    });
    return this.#closing;
  }

  async #shutDown(stop: () => Promise<{ readonly finished: boolean }>): Promise<void> {
    this.#queues.close();
    this.#watcher.close();
    this.#otherOwners.close();
    this.#deadlines.close();
    const { ledger, owner } = this.#context;
    const end = await stop();
    await this.#permits.close();
    await this.#http.close();
    await this.#background.done();
    await ledger.leave(owner.id, end);
    await ledger.close();
  }

  #stopAll(): void {
    const { stopped, batches } = this.#context;
    this.#stop.abort(new BatchlingError('SCOPE_CLOSED', 'The engine is closed.'));
    for (const batch of batches.values()) batch.ending.abort(stopped.reason);
  }
}
