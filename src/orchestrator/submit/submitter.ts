import { randomBytes } from 'node:crypto';
import { OverBudgetError, OwnerLostError } from '../../base/errors.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { NewBatch } from '../../ledger/ledger.ts';
import { goRealtime, refuseRequests } from '../answer/delivery.ts';
import { type OwnReason, ownAnswer } from '../answer/own-answer.ts';
import { refuseUnsent } from '../collect/batch-endings.ts';
import { labelsOf } from '../events/batch-labels.ts';
import { type FlushReason, factsOf, publish } from '../events/events.ts';
import { Batch } from '../model/batch.ts';
import type { EngineScope } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Deadlines } from '../watch/deadlines.ts';
import type { BatchLife, BatchStart } from './batch-life.ts';
import { type Budgets, refuseOverBudget } from './budgets.ts';
import { packFor } from './packer.ts';
import type { Permit, Permits } from './permit.ts';
import { planOf } from './plan.ts';
import type { SubmitProtocol } from './submit-protocol.ts';
import type { TokenQuota } from './token-quota.ts';

/** What the submitter hands on to. */
interface SubmitServices {
  readonly permits: Permits;
  readonly budgets: Budgets;
  readonly protocol: SubmitProtocol;
  readonly life: BatchLife;
  readonly deadlines: Deadlines;
  withdraw(requests: readonly Request[]): void;
  /** The ledger has forgotten whose it is: it is asked again. */
  follow(request: Request): void;
}

/** Packs flushed requests into batches and sends each, once it has its permit. */
export class Submitter {
  readonly #context: EngineContext;
  readonly #services: SubmitServices;

  constructor(context: EngineContext, services: SubmitServices) {
    this.#context = context;
    this.#services = services;
  }

  submit(queue: RequestQueue, requests: readonly Request[], reason: FlushReason): void {
    announce(queue, requests, reason);
    const isTooFew = requests.length < (requests[0]?.scope.minBatch ?? 1);
    // Only a whole call can go out, and not after a part of it is in a batch.
    const hasBegun = requests.some(({ waiting }) => waiting.some(({ part }) => part?.hasBegun()));
    if (isTooFew && !hasBegun) {
      this.#services.withdraw(requests);
      const sent = inTurns(requests, (request) => {
        for (const caller of request.waiting) goRealtime(caller, request);
      });
      this.#context.background('send ordinary calls', sent);
      return;
    }
    this.send(queue, requests);
  }

  /** Packs and sends requests, also those of a refused batch, in the company they are in now. */
  send(queue: RequestQueue, requests: readonly Request[]): void {
    const sent = this.#pack(queue, requests).catch((error: unknown) => {
      if (!this.#context.stopped.aborted) return this.#refuseUnsent(requests, error);
    });
    this.#context.background('send requests', sent);
  }

  async #pack(queue: RequestQueue, requests: readonly Request[]): Promise<void> {
    this.#endDue(requests);
    const quota = await this.#services.permits.quotaOf(queue);
    await nextTurn();
    const { batcher } = queue;
    const { batches, tooLarge } = packFor(queue, withoutEndedScopes(requests), quota.limit);
    const { background } = this.#context;
    for (const members of batches) background('send a batch', this.#send(queue, quota, members));
    if (tooLarge.length === 0) return;
    const message = `The request is larger than a ${batcher.info.name} batch may be.`;
    // It runs by itself: if it fails, that is no trouble of the requests that are being sent.
    const refused = refuseRequests(this.#context, tooLarge, () =>
      ownAnswer(batcher, 'too_large', message),
    );
    background('refuse requests that are too large', refused);
  }

  /**
   * Planning and living are two steps, and this function is not async: while a batch is under way, for hours
   * perhaps, nothing may hold its requests, which have their answers by and by.
   */
  #send(queue: RequestQueue, quota: TokenQuota, requests: readonly Request[]): Promise<void> {
    return this.#planWithPermit(queue, quota, requests).then(
      (started) => started && this.#services.life.live(...started),
    );
  }

  /** `undefined`: none of them is sent, or not in this company. */
  async #planWithPermit(
    queue: RequestQueue,
    quota: TokenQuota,
    requests: readonly Request[],
  ): Promise<readonly [Batch, Permit, BatchStart] | undefined> {
    const scopes = scopesOf(requests);
    const permit = this.#services.permits.newPermit(quota, {
      queue,
      tokens: requests.reduce((sum, { tokens }) => sum + tokens, 0),
      count: requests.length,
      first: requests[0],
      scopes: () => scopes,
    });
    let batch: Batch | undefined;
    try {
      await permit.acquire(this.#context.stopped);
      if (permit.isTooMuch) {
        permit.release();
        this.send(queue, requests);
        return undefined;
      }
      await makeIds(requests);
      const money = await this.#services.budgets.ofBatch(queue, requests);
      this.#endDue(requests);
      const members = this.#ours(withoutEndedScopes(requests));
      batch = members.length > 0 ? await this.#plan(queue, members, money) : undefined;
      // Time may have run out for some while the plan was written.
      this.#endDue(requests);
      if (batch === undefined) return undefined;
      const sent = this.#services.protocol.send(batch, permit, planOf(batch, members));
      return [batch, permit, startOf(sent)];
    } catch (error) {
      // Nobody may wait for what is not sent.
      if (!this.#context.stopped.aborted) await this.#refuseUnsent(requests, error);
      return undefined;
    } finally {
      if (batch === undefined) permit.release();
    }
  }

  /** The requests that are ours. The ledger has forgotten whose the others are, and is asked again. */
  #ours(requests: readonly Request[]): readonly Request[] {
    const { id } = this.#context.owner;
    const ours: Request[] = [];
    for (const request of requests) {
      if (request.owner === id) ours.push(request);
      else this.#services.follow(request);
    }
    return ours;
  }

  /** Nobody waits for it: whatever becomes of these requests, the others must go on. None of them waits for a permit. */
  #endDue(requests: readonly Request[]): void {
    const due = requests
      .filter((request) => !request.isWanted && !request.isPlanned)
      .flatMap(({ waiting }) => waiting);
    if (due.length === 0) return;
    const ended = this.#services.deadlines.end(due);
    this.#context.background('end requests at their deadline', ended);
  }

  /** `undefined`: it could not be written down, and its callers have been told. */
  async #plan(
    queue: RequestQueue,
    members: readonly Request[],
    money: Pick<NewBatch, 'estimate' | 'budget' | 'purse'>,
  ): Promise<Batch | undefined> {
    const { ledger, owner, batches, stopped } = this.#context;
    const token = `bl_${randomBytes(8).toString('hex')}`;
    const begun: Request[] = [];
    try {
      for (const request of members) {
        request.beginPlan();
        begun.push(request);
      }
      const labels = labelsOf(scopesOf(members));
      const rows = members.map(({ row }) => row);
      const lease = await ledger.plan(
        owner.id,
        { token, queue: queue.id, ...labels, ...money },
        rows,
      );
      const batch = new Batch(token, queue, lease);
      const slice = new Slice();
      for (const request of members) {
        if (slice.isOver) await slice.next();
        batch.add(request);
      }
      // All of them in one turn: a batch whose first members are gone must not look as if nobody wanted it.
      for (const request of members) request.enterBatch(batch);
      batches.set(lease.batch, batch);
      if (stopped.aborted) batch.ending.abort(stopped.reason);
      return batch;
    } catch (error) {
      for (const request of begun) request.leavePlan();
      if (error instanceof OwnerLostError) for (const one of members) this.#services.follow(one);
      else if (error instanceof OverBudgetError)
        await refuseOverBudget(this.#context, members, error);
      else await this.#refuseUnsent(members, error, 'store');
      return undefined;
    }
  }

  #refuseUnsent(requests: readonly Request[], error: unknown, reason?: OwnReason): Promise<void> {
    const unsent = requests.filter(({ isUnsent }) => isUnsent);
    return refuseUnsent(this.#context, unsent, error, reason);
  }
}

/** A function of its own, because a closure made by its caller would keep the requests. */
function startOf(sent: Promise<void>): BatchStart {
  const submitted = sent.then(() => undefined);
  // Whoever lives with the batch hears of it, only a moment later.
  submitted.catch(() => undefined);
  return { submitted, endFor: (error) => ({ is: 'unsent', error }), isOld: false };
}

/** Ids are made here, in slices, and kept: to make them for a whole plan at once would take long. */
async function makeIds(requests: readonly Request[]): Promise<void> {
  const slice = new Slice();
  for (const request of requests) {
    if (slice.isOver) await slice.next();
    void request.id;
  }
  await slice.next();
}

function scopesOf(requests: readonly Request[]): ReadonlySet<EngineScope> {
  const scopes = new Set<EngineScope>();
  let last: EngineScope | undefined;
  for (const { scope } of requests) {
    if (scope !== last) scopes.add(scope);
    last = scope;
  }
  return scopes;
}

/** Drops the calls of scopes that have ended, and returns the requests that are still wanted. */
function withoutEndedScopes(requests: readonly Request[]): Request[] {
  for (const { callers } of requests) {
    for (const { call, scope } of callers) if (scope.ended) call.drop();
  }
  return requests.filter(({ isWanted }) => isWanted);
}

function announce(queue: RequestQueue, requests: readonly Request[], reason: FlushReason): void {
  const event = { ...factsOf(queue.batcher, queue), count: requests.length, reason };
  publish('queue:flushed', event);
  for (const scope of scopesOf(requests)) scope.emit('queue:flushed', event);
}
