import { hostname } from 'node:os';
import { BatchlingError } from '../base/errors.ts';
import type { Answer } from '../base/types.ts';
import { BackgroundWork, withGrace } from '../concurrency/background-work.ts';
import type { HttpClient } from '../http/client.ts';
import type { OpenBatch } from '../ledger/ledger.ts';
import type { LedgerReader } from '../ledger/view.ts';
import { storedAnswer } from './answer/stored-answer.ts';
import { assemble, type EngineParts } from './assemble.ts';
import { leaveCalls } from './capture/leave-calls.ts';
import type { Step } from './events/trouble-text.ts';
import type { LineGroup } from './lines/line-group.ts';
import type { SentLines } from './lines/send-lines.ts';
import type { Batch } from './model/batch.ts';
import type { CallHandle, CapturedCall, EngineScope } from './model/call.ts';
import type { CallEngine } from './model/call-engine.ts';
import type { Caller } from './model/caller.ts';
import type { EngineContext, EngineOwner } from './model/engine-context.ts';
import type { Stats } from './model/stats.ts';
import { type EngineOptions, newContext, type Resumer } from './new-context.ts';
import { JoinedOwner } from './takeover/joined-owner.ts';

export type { Resumer } from './new-context.ts';

/**
 * Orchestrator, open ledger and pollers: one per process and store, shared by all scopes with the same `keep`
 * and `dispatcher`. `assemble` has the modules of a call's walk.
 */
export class Engine implements CallEngine {
  readonly isStored: boolean;
  readonly #context: EngineContext;
  readonly #http: HttpClient;
  readonly #parts: EngineParts;
  readonly #stop = new AbortController();
  readonly #background = new BackgroundWork();
  #closing: Promise<void> | undefined;

  static async open(options: EngineOptions): Promise<Engine> {
    const { ledger, run } = options;
    const info = { run, host: hostname(), pid: process.pid };
    return new Engine(options, await JoinedOwner.join(ledger, info));
  }

  private constructor(options: EngineOptions, owner: EngineOwner) {
    const { ledger, http, isStored, prune, webhook } = options;
    const context = newContext(options, owner, this.#stop.signal, this.#background);
    this.isStored = isStored;
    this.#context = context;
    this.#http = http;
    this.#parts = assemble(context, options);
    context.background('prune the ledger', ledger.prune(prune));
    if (webhook !== undefined) context.mailbox.use(webhook);
  }

  capture(call: CapturedCall): CallHandle {
    return this.#parts.intake.push(call);
  }

  /** Sends what the scope has waiting, without waiting for company any longer. */
  async flush(scope?: EngineScope): Promise<void> {
    await this.#parts.intake.drained();
    this.#parts.queues.flush(scope);
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
    await this.#parts.intake.drained();
    await this.#parts.departures.cancel(handles as readonly Caller[], message);
  }

  /** Sends lines of a job, as far as they need not be asked as calls. */
  sendLines(group: LineGroup): Promise<SentLines> {
    return this.#parts.lines.send(group);
  }

  /** Lets go of calls that come back for their answers; see `leaveCalls`. */
  leaveCalls(handles: readonly CallHandle[]): ReturnType<typeof leaveCalls> {
    return leaveCalls(handles as readonly Caller[]);
  }

  /** The answer to a request that was asked before, if the ledger has it. */
  storedAnswer(fingerprint: Uint8Array, occurrence: number): Promise<Answer | undefined> {
    return storedAnswer(this.#context, fingerprint, occurrence);
  }

  /** A webhook of a provider says that one of its batches is over. It is asked, and not believed. */
  hint(provider: string, remoteId: string): void {
    this.#parts.watcher.hint(provider, remoteId);
  }

  /** For whoever looks at the ledger and writes nothing. */
  get reader(): LedgerReader {
    return this.#context.ledger;
  }

  /** How often a step has failed so far. */
  failuresOf(step: Step): number {
    return this.#context.troubles.failuresOf(step);
  }

  /**
   * Takes over a batch that no call asks for here. `undefined`: another owner has it, or it is over.
   */
  async resume({ id, queue: stored }: OpenBatch, by: Resumer): Promise<Batch | undefined> {
    const { batcher, headers, scope } = by;
    const account = await this.#parts.accounts.open(headers, batcher, stored.base);
    const queue = this.#parts.queues.reopen(stored, { batcher, account, scope });
    return this.#parts.takeover.claim(id, { queue, scope });
  }

  /**
   * What is under way gets a moment to come to its end; what is only waiting is not waited for.
   * `finished: false`: the runs whose batches were worked on are to be continued by their programs. `done`: what its
   * webhooks are told of the run.
   */
  close(end = { finished: true }, done?: Stats): Promise<void> {
    this.#closing ??= this.#shutDown(async () => {
      const { mailbox } = this.#context;
      await withGrace(this.#background.done());
      // What cannot be delivered soon is left to the next process.
      if (mailbox.webhooks.length > 0) await withGrace(this.#sayGoodbye(done));
      this.#stopAll();
      return end;
    });
    return this.#closing;
  }

  /**
   * Closes although calls wait: nothing more is sent, and a later run continues. Only a create in flight, and
   * ordinary calls on the wire, get a moment to be recorded.
   */
  leave(): Promise<void> {
    this.#closing ??= this.#shutDown(async () => {
      this.#stopAll();
      const batches = [...this.#context.batches.values()];
      const creating = batches.filter(({ phase }) => phase.name === 'creating');
      const sent = this.#parts.ordinaryCalls.underWay();
      const created = Promise.all([...creating.map((batch) => batch.created), ...sent]);
      await withGrace(Promise.race([created, this.#background.done()]));
      return { finished: false };
    });
    return this.#closing;
  }

  async #shutDown(stop: () => Promise<{ readonly finished: boolean }>): Promise<void> {
    const { queues, watcher, otherOwners, deadlines, ordinaryCalls, permits } = this.#parts;
    for (const part of [queues, watcher, otherOwners, deadlines, ordinaryCalls]) part.close();
    const { ledger, owner } = this.#context;
    const end = await stop();
    await permits.close();
    await Promise.all([this.#http.close(), this.#context.mailbox.close()]);
    await this.#background.done();
    await ledger.leave(owner.id, end);
    await ledger.close();
  }

  async #sayGoodbye(done: Stats | undefined): Promise<void> {
    const { mailbox, report } = this.#context;
    if (done)
      await mailbox
        .runDone({ outcome: 'done', stats: done })
        .catch((error) => report('write to its outbox', error));
    await mailbox.flush();
  }

  #stopAll(): void {
    const { stopped, batches } = this.#context;
    this.#stop.abort(new BatchlingError('SCOPE_CLOSED', 'The engine is closed.'));
    for (const batch of batches.values()) batch.ending.abort(stopped.reason);
  }
}
