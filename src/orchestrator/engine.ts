import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { BatchlingError, LeaseLostError } from '../errors.ts';
import { sleep } from '../http/backoff.ts';
import type { HttpClient } from '../http/client.ts';
import type { Ledger, PruneQuery } from '../ledger/ledger.ts';
import type { Clock, Logger } from '../types.ts';
import type { AbandonedRequests } from './capture/abandoned-requests.ts';
import { Accounts } from './capture/accounts.ts';
import { Returning } from './capture/client-retries.ts';
import { Intake } from './capture/intake.ts';
import type { Occurrences } from './capture/occurrences.ts';
import { Spool } from './capture/spool.ts';
import { Collector } from './collect/collector.ts';
import { deliverOne } from './collect/delivery.ts';
import { Refusals } from './collect/refusals.ts';
import type { ActiveBatch } from './model/batch.ts';
import type { Workshop } from './model/engine-context.ts';
import { inTurns } from './model/in-turns.ts';
import { KeepAlive } from './model/keep-alive.ts';
import { ownAnswer } from './model/own-answer.ts';
import type { CapturedCall, EngineScope, PendingRequest } from './model/request.ts';
import { Troubles } from './model/troubles.ts';
import { Queues } from './queue/queues.ts';
import { Recovery } from './submit/find-create.ts';
import { Governor } from './submit/quotas.ts';
import { Protocol } from './submit/submit-protocol.ts';
import { Submitter } from './submit/submitter.ts';
import { Neighbours } from './takeover/other-owners.ts';
import { Resume } from './takeover/takeover.ts';
import { cancelWhereverItIs } from './watch/cancel.ts';
import { Deadlines } from './watch/deadlines.ts';
import { Progress } from './watch/progress.ts';
import { LostBatches } from './watch/unreadable-batches.ts';
import { endIfUnwanted } from './watch/unwanted.ts';
import { Watcher } from './watch/watcher.ts';

const closingGrace = 2_000;

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
  readonly occurrences: Occurrences | undefined;
  readonly abandoned: AbandonedRequests;
  /** What of the ledger is too old or too much. */
  readonly prune: PruneQuery;
}

/**
 * Orchestrator, ledger handle and pollers: one per process and store, shared by all scopes. It only
 * wires the modules of a call's walk together: intake → queue → submitter → watcher → collector.
 */
export class Engine {
  readonly #workshop: Workshop;
  readonly #http: HttpClient;
  readonly #queues: Queues;
  readonly #intake: Intake;
  readonly #neighbours: Neighbours;
  readonly #watcher: Watcher;
  readonly #returning: Returning;
  readonly #deadlines: Deadlines;
  readonly #governor: Governor;
  readonly #occurrences: Occurrences | undefined;
  readonly #stop: AbortController;
  readonly #background = new Set<Promise<void>>();
  readonly #keepAlive = new KeepAlive();
  #closing: Promise<void> | undefined;

  static async open(options: EngineOptions): Promise<Engine> {
    const { ledger, run } = options;
    const owner = await ledger.join({ run, host: hostname(), pid: process.pid });
    return new Engine(options, owner);
  }

  private constructor(options: EngineOptions, owner: number) {
    const { ledger, clock, logger, http, occurrences } = options;
    const stop = new AbortController();
    // Thousands of groups may wait for room at once; Node would warn at the eleventh.
    setMaxListeners(0, stop.signal);
    this.#stop = stop;
    this.#occurrences = occurrences;
    this.#http = http;
    const report = (what: string, error: unknown) => {
      if (!stop.signal.aborted) logger.warn(`batchling could not ${what}`, { error });
    };
    const workshop: Workshop = {
      ledger,
      owner,
      clock,
      logger,
      batches: new Map(),
      stopped: stop.signal,
      troubles: new Troubles(clock, logger),
      report,
      joinAgain: async () => {
        workshop.owner = await ledger.join({
          run: options.run,
          host: hostname(),
          pid: process.pid,
        });
      },
      rejoin: (batch) => {
        // Before they look for it again: here it is no longer to be found.
        workshop.batches.delete(batch.lease.batch);
        batch.outcomeIsKnown();
        for (const pending of batch.waiting()) {
          pending.batch = undefined;
          const { request, occurrence } = pending;
          this.#neighbours.join(pending, { is: 'wait', request, occurrence });
        }
      },
      background: (what, work) => {
        const tracked: Promise<void> = work
          .then(
            () => undefined,
            (error: unknown) => {
              if (!(error instanceof LeaseLostError)) report(what, error);
            },
          )
          .finally(() => this.#background.delete(tracked));
        this.#background.add(tracked);
      },
    };
    this.#workshop = workshop;
    const recovery = new Recovery(workshop);
    const watch = (batch: ActiveBatch) => this.#watcher.watch(batch);
    const spool = new Spool(ledger);
    this.#returning = new Returning(clock, options.abandoned);
    this.#deadlines = new Deadlines(workshop, () => this.#queues);
    this.#governor = new Governor(workshop);
    const protocol = new Protocol(workshop, recovery, this.#governor, watch);
    const refusals = new Refusals(workshop, (queue, requests) => submitter.send(queue, requests));
    const submitter = new Submitter(workshop, {
      governor: this.#governor,
      protocol,
      refusals,
      deadlines: this.#deadlines,
      spool,
      withdraw: (requests) => this.#queues.withdraw(requests),
    });
    const resume = new Resume(
      workshop,
      recovery,
      protocol,
      this.#governor,
      spool,
      () => this.#intake.drained(),
      (batch) => this.#watcher.watch(batch, { atOnce: true }),
    );
    const services = { spool, returning: this.#returning };
    this.#queues = new Queues(
      workshop,
      new Accounts(ledger, http),
      services,
      (queue, requests, reason) => submitter.submit(queue, requests, reason),
    );
    this.#neighbours = new Neighbours(
      workshop,
      (id, asker) => resume.claim(id, asker),
      (requests) => this.#deadlines.end(requests),
    );
    this.#intake = new Intake(
      workshop,
      this.#queues,
      spool,
      this.#returning,
      this.#deadlines,
      occurrences,
      (pending, admission) => this.#neighbours.join(pending, admission),
    );
    const unwatch = (batch: ActiveBatch) => this.#watcher.unwatch(batch);
    const lost = new LostBatches(workshop, unwatch);
    const progress = new Progress(workshop, {
      collector: new Collector(workshop, lost),
      refusals,
      recovery,
      deadlines: this.#deadlines,
      lost,
      watch,
      unwatch,
    });
    this.#watcher = new Watcher(
      workshop,
      (batch, remote) => progress.seen(batch, remote),
      (batch, denied, error) => {
        if (denied) lost.denied(batch, denied);
        else lost.unread(batch, error);
      },
    );
    workshop.background('prune the ledger', ledger.prune(options.prune));
  }

  capture(call: CapturedCall): void {
    this.#intake.push(call);
  }

  /** Sends what the scope has waiting, without waiting for company any longer. */
  async flush(scope?: EngineScope): Promise<void> {
    await this.#intake.drained();
    this.#queues.flush(scope);
  }

  /** The caller gave up: what is not planned yet is never sent, the rest stays in its batch. */
  abort(call: CapturedCall): void {
    const { pending } = call;
    if (pending === undefined || pending.settled) return;
    pending.settled = true;
    if (call.abandoned) this.#returning.abandoned.ended(call);
    this.#neighbours.forget(pending);
    this.#giveBack(pending);
    if (pending.batch) this.#lookWhoWants(pending.batch);
    else this.#queues.leave(pending);
  }

  /** Once for all callers who give up in the same turn. */
  #lookWhoWants(batch: ActiveBatch): void {
    if (batch.isLookedAt) return;
    batch.isLookedAt = true;
    setImmediate(() => {
      batch.isLookedAt = false;
      endIfUnwanted(batch);
    });
  }

  /** The client lost patience and may come back: the request stays and its retry re-joins it. */
  abandon(call: CapturedCall): void {
    const { pending } = call;
    // Still on its way in: the intake sees the mark on the call.
    if (pending === undefined || pending.settled || pending.request === 0) return;
    this.#returning.abandoned.add(call, pending.key, pending.occurrence);
  }

  /** The client that lost patience has read its answer: nobody comes back for it. */
  read(call: CapturedCall): void {
    this.#returning.abandoned.read(call);
  }

  /**
   * An error has ended the scope of a call that is in a batch: it is answered if the process lives long
   * enough, and whoever asks the same next pays for no other sample.
   */
  leaveBehind(call: CapturedCall): void {
    const { pending } = call;
    if (pending === undefined || pending.settled) return;
    this.#giveBack(pending);
    call.abandoned = true;
  }

  /** Waits for ended batches of a scope until they are collected, or need another try at least. */
  async collected(scope: EngineScope): Promise<void> {
    for (const batch of [...this.#workshop.batches.values()]) {
      if (!batch.scopes.has(scope)) continue;
      // Its last answers may have been read before it had ended.
      await batch.reading;
      await batch.collected;
    }
  }

  /** Ends calls of a scope with an answer of ours, and cancels at the provider. */
  async cancel(calls: readonly CapturedCall[], message: string): Promise<void> {
    await this.#intake.drained();
    const batches = new Set<ActiveBatch>();
    await inTurns(calls, ({ pending }) => {
      if (pending === undefined || pending.settled) return;
      const { batch } = pending;
      const answer = ownAnswer(pending.batcher, 'cancelled', message);
      // To this caller alone: another scope may wait for the same request.
      deliverOne(pending, answer, 'batch', batch?.token);
      this.#neighbours.forget(pending);
      if (batch) batches.add(batch);
      else this.#queues.leave(pending);
    });
    // Its callers are told, so nothing else may keep the program up until the provider is, too.
    this.#keepAlive.hold();
    try {
      await Promise.all([...batches].map((batch) => cancelWhereverItIs(this.#workshop, batch)));
    } finally {
      this.#keepAlive.release();
    }
  }

  /** It stays in its batch: who asks the same next gets that answer, and pays for no other one. */
  #giveBack(pending: PendingRequest): void {
    const { batch, planning, call, keyed, key, occurrence } = pending;
    // Where others may have a right to it already, the next one gets another sample.
    if ((batch === undefined && !planning) || call.abandoned || keyed) return;
    const waiters = batch?.members.get(pending.id)?.pending?.waiters() ?? [];
    if (waiters.every((one) => one === pending)) this.#occurrences?.giveBack(key, occurrence);
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** A create in flight gets a moment to be recorded; what is only waiting is not waited for. */
  async #shutDown(): Promise<void> {
    this.#queues.close();
    this.#watcher.close();
    this.#neighbours.close();
    this.#deadlines.close();
    const { ledger, clock, stopped } = this.#workshop;
    const grace = sleep(clock, closingGrace, stopped).catch(() => undefined);
    await Promise.race([this.#quiet(), grace]);
    this.#stop.abort(new BatchlingError('SCOPE_CLOSED', 'The engine is closed.'));
    for (const batch of this.#workshop.batches.values()) batch.ending.abort(stopped.reason);
    await this.#governor.close();
    await this.#http.close();
    await this.#quiet();
    await ledger.leave(this.#workshop.owner);
    await ledger.close();
  }

  async #quiet(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}
