import { randomBytes } from 'node:crypto';
import type { BatchFailure, Plan, Remote } from '../batchers/batcher.ts';
import { RefusedError } from '../batchers/refused-error.ts';
import { ReplyError } from '../batchers/replies.ts';
import { BatchlingError, LeaseLostError, NotSentError, UnknownOutcomeError } from '../errors.ts';
import { backoff, sleep } from '../http/backoff.ts';
import { loadPrices } from '../pricing/prices.ts';
import { ActiveBatch } from './active-batch.ts';
import { ownAnswer } from './answers.ts';
import { type Deadlines, goRealtime } from './deadlines.ts';
import { refuse, refuseAll } from './delivery.ts';
import { type FlushReason, publish } from './events.ts';
import { pack } from './packer.ts';
import type { EngineScope, PendingRequest } from './pending.ts';
import { planOf } from './plan.ts';
import type { Queue } from './queue.ts';
import type { Recovery } from './recovery.ts';
import type { Spool } from './spool.ts';
import { isUnwanted, timeLeft, UnwantedError } from './unwanted.ts';
import type { Workshop } from './workshop.ts';

/** How long a provider that cannot be reached is tried again before the callers are told. */
const patience = 15 * 60_000;
/** How long a create waits for another create of the same account. */
const queueForCreate = 30_000;

/**
 * Sends flushed requests as batches, by the submit protocol: planned → staged → creating → bytes
 * out → accepted. Only the stretch from creating to accepted is dangerous: there the provider may
 * have the batch without our knowing, so an unclear outcome is looked for before anything is sent
 * again.
 */
export class Submitter {
  readonly #workshop: Workshop;
  readonly #recovery: Recovery;
  readonly #spool: Spool;
  readonly #withdraw: (requests: readonly PendingRequest[]) => void;
  readonly #deadlines: Deadlines;
  readonly #watch: (batch: ActiveBatch) => void;

  constructor(
    workshop: Workshop,
    recovery: Recovery,
    spool: Spool,
    withdraw: (requests: readonly PendingRequest[]) => void,
    deadlines: Deadlines,
    watch: (batch: ActiveBatch) => void,
  ) {
    this.#workshop = workshop;
    this.#recovery = recovery;
    this.#spool = spool;
    this.#withdraw = withdraw;
    this.#deadlines = deadlines;
    this.#watch = watch;
  }

  submit(queue: Queue, requests: readonly PendingRequest[], reason: FlushReason): void {
    announce(queue, requests, reason);
    if (requests.length < (requests[0]?.scope.minBatch ?? 1)) {
      this.#withdraw(requests);
      for (const pending of requests) goRealtime(pending);
      return;
    }
    const { batcher, endpoint, policy } = queue;
    const limits = batcher.limits(endpoint);
    const { batches, tooLarge } = pack(requests, (pending) => pending.bytes, {
      ...limits,
      items: Math.min(policy.batchSize ?? limits.recommendedItems, limits.items),
      frameBytes: (count) => batcher.frameBytes(count),
    });
    const { ledger, owner, background } = this.#workshop;
    if (tooLarge.length > 0) {
      const message = `The request is larger than a ${batcher.info.name} batch may be.`;
      const refused = refuseAll(ledger, owner, tooLarge, 'too_large', message);
      background('refuse requests that are too large', refused);
    }
    for (const members of batches) background('send a batch', this.#send(queue, members));
  }

  async #send(queue: Queue, requests: readonly PendingRequest[]): Promise<void> {
    const { ledger, owner, batches } = this.#workshop;
    const { slots } = queue.account;
    await slots.acquire(() => inFlight(queue, requests));
    let batch: ActiveBatch | undefined;
    try {
      const members = requests.filter(isWanted);
      if (members.length === 0 || this.#workshop.stopped.aborted) {
        slots.release();
        return;
      }
      const token = `bl_${randomBytes(8).toString('hex')}`;
      const { scope } = members[0] as PendingRequest;
      const lease = await ledger.plan(
        owner,
        { token, queue: queue.id, tags: scope.tags, ...(scope.name && { name: scope.name }) },
        members.map((pending) => pending.request),
      );
      batch = new ActiveBatch(token, queue, lease);
      for (const pending of members) batch.attach(pending);
      batch.holdsSlot = true;
      batches.set(lease.batch, batch);
      await this.#protocol(batch, planOf(batch, members, scope, this.#spool));
    } catch (error) {
      if (batch) batch.releaseSlot();
      else slots.release();
      await this.#giveUp(batch, requests, error);
    }
  }

  async #protocol(batch: ActiveBatch, plan: Plan): Promise<void> {
    const { ledger, background } = this.#workshop;
    background('load the list prices', loadPrices());
    batch.emit('batch:submitting', { ...batch.facts(), bytes: plan.bytes });
    const exact = batch.batcher.info.exactlyFindable;
    const { creates } = batch.queue.account;
    if (!exact) await creates.acquire(() => 1);
    let remote: Remote;
    try {
      const stage = () => batch.batcher.stage(batch.wire, plan);
      batch.handle = await this.#patiently(batch, stage, 'whatever became of it');
      await ledger.staged(batch.lease, batch.handle);
      if (isUnwanted(batch)) throw new UnwantedError(batch);
      await this.#markCreating(batch, !exact);
      remote = await this.#create(batch, plan);
    } finally {
      if (!exact) creates.release();
    }
    await this.accept(batch, remote);
  }

  /** The provider has it. A ledger that cannot note it now can find it again later. */
  async accept(batch: ActiveBatch, remote: Remote): Promise<void> {
    const { ledger, clock, report } = this.#workshop;
    batch.remote = remote;
    batch.acceptedAt = clock.now();
    try {
      await ledger.accepted(batch.lease, remote);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      report(`note that batch ${batch.token} was accepted`, error);
    }
    batch.emit('batch:submitted', batch.facts());
    this.#watch(batch);
    if (!batch.cancelRequested || batch.waiting().length > 0) return;
    await batch.batcher.cancel(batch.wire, remote);
  }

  /** Creates a batch whose requests an earlier owner has uploaded. */
  async createFromHandle(batch: ActiveBatch, scope: EngineScope): Promise<void> {
    await this.#markCreating(batch, false);
    await this.accept(batch, await this.#create(batch, planOf(batch, [], scope, this.#spool)));
  }

  /** Another process may be creating for the same account; after a while we go on regardless. */
  async #markCreating(batch: ActiveBatch, alone: boolean): Promise<void> {
    const { ledger, clock } = this.#workshop;
    const until = clock.now() + queueForCreate;
    for (;;) {
      const last = clock.now() >= until;
      if (await ledger.creating(batch.lease, batch.handle, { alone: alone && !last })) return;
      await sleep(clock, 100, this.#workshop.stopped);
    }
  }

  async #create(batch: ActiveBatch, plan: Plan): Promise<Remote> {
    let marked = true;
    const create = async () => {
      // Whoever takes over looks for as long after the mark as lists may lag, so each create that
      // goes out leaves one of its own.
      if (!marked) await this.#markCreating(batch, false);
      marked = false;
      return batch.batcher.create(batch.wire, plan, batch.handle);
    };
    for (;;) {
      try {
        return await this.#patiently(batch, create, 'if it had no effect');
      } catch (error) {
        if (!(error instanceof UnknownOutcomeError)) throw error;
        this.#workshop.report(`create batch ${batch.token}`, error);
        const found = await this.#recovery.find(batch);
        if (found) return found;
        batch.resent = true;
        batch.emit('batch:resent', { ...batch.facts(), reason: 'the create was never accepted' });
      }
    }
  }

  /** Repeats what was not sent or was refused for now, and an upload whatever became of the last. */
  async #patiently<T>(
    batch: ActiveBatch,
    work: () => Promise<T>,
    repeat: 'whatever became of it' | 'if it had no effect',
  ): Promise<T> {
    const { clock, stopped } = this.#workshop;
    const until = clock.now() + patience;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        const wait = waitFor(error, repeat === 'whatever became of it');
        if (wait === undefined || (wait.limited && clock.now() >= until)) throw error;
        this.#workshop.report(`send batch ${batch.token}`, error);
        const pause = backoff({ attempt, retryAfter: wait.retryAfter });
        await sleep(clock, Math.min(pause, timeLeft(batch, clock.now())), stopped);
        if (isUnwanted(batch)) throw new UnwantedError(batch);
      }
    }
  }

  /** Never created, and not wanted: what was uploaded goes, and so do the requests. */
  async #forget(batch: ActiveBatch, requests: readonly PendingRequest[]): Promise<void> {
    const { ledger, owner, background } = this.#workshop;
    const { batcher, wire, handle, token } = batch;
    background(`delete the input file of batch ${token}`, batcher.cleanup(wire, handle));
    const gone = requests.filter(({ settled }) => settled);
    for (const pending of gone) pending.queue.spool.letGo(pending);
    await ledger.settled(
      owner,
      gone.map(({ request }) => ({ request, is: 'release' }) as const),
    );
    await this.#deadlines.end(requests.filter(({ settled }) => !settled));
  }

  /** The batch will not be sent: each caller gets the real reason. */
  async #giveUp(
    batch: ActiveBatch | undefined,
    requests: readonly PendingRequest[],
    error: unknown,
  ): Promise<void> {
    const { ledger, owner, batches, stopped, report, rejoin } = this.#workshop;
    if (stopped.aborted) return;
    const waiting = requests.filter((pending) => !pending.settled);
    if (error instanceof LeaseLostError) {
      rejoin(waiting);
      return;
    }
    if (batch) {
      batches.delete(batch.lease.batch);
      const reason = error instanceof Error ? error.message : String(error);
      await ledger.refused(batch.lease, reason).catch((broken: unknown) => {
        report(`note that batch ${batch.token} was refused`, broken);
      });
    }
    if (batch) for (const pending of requests) pending.batch = undefined;
    if (batch && error instanceof UnwantedError) {
      await this.#forget(batch, requests);
      return;
    }
    const answer = failureOf(error)?.answer;
    const reason = isStoreError(error) ? 'store' : 'missing';
    await refuse(ledger, owner, waiting, ({ batcher }) => {
      return answer ?? ownAnswer(batcher, reason, reasonOf(error));
    });
  }
}

/** Whoever gave up while the batch waited for room needs its body no more. */
function isWanted(pending: PendingRequest): boolean {
  const wanted = !pending.call.aborted && !pending.settled;
  if (!wanted) pending.queue.spool.letGo(pending);
  return wanted;
}

function announce(queue: Queue, requests: readonly PendingRequest[], reason: FlushReason): void {
  const event = {
    provider: queue.batcher.info.name,
    endpoint: queue.endpoint,
    model: queue.model,
    count: requests.length,
    reason,
  };
  publish('queue:flushed', event);
  const scopes = new Set(requests.map((pending) => pending.scope));
  for (const scope of scopes) scope.emit('queue:flushed', event);
}

function inFlight(queue: Queue, requests: readonly PendingRequest[]): number {
  const asked = requests[0]?.scope.maxInFlight;
  return asked ?? queue.batcher.limits(queue.endpoint).inFlight;
}

/** `undefined`: repeating it is pointless or dangerous. `limited`: only for as long as `patience`. */
function waitFor(
  error: unknown,
  repeatable: boolean,
): { retryAfter?: number | undefined; limited: boolean } | undefined {
  // What our own side cannot read will not be readable next time either.
  if (error instanceof NotSentError && isOurs(error.cause)) return undefined;
  if (error instanceof NotSentError) return { limited: true };
  if (error instanceof UnknownOutcomeError) return repeatable ? { limited: true } : undefined;
  const failure = failureOf(error);
  if (failure?.next !== 'later') return undefined;
  return { retryAfter: failure.retryAfter, limited: failure.answer?.status !== 429 };
}

function failureOf(error: unknown): BatchFailure | undefined {
  return error instanceof RefusedError || error instanceof ReplyError ? error.failure : undefined;
}

function isOurs(cause: unknown): boolean {
  return BatchlingError.isInstance(cause) && cause.code === 'INVARIANT';
}

function isStoreError(error: unknown): boolean {
  return BatchlingError.isInstance(error) && error.code === 'STORE_UNUSABLE';
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `The batch could not be sent: ${message}`;
}
