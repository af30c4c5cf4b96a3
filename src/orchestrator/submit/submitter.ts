import { tracesOf } from '../../base/call-tracing.ts';
import { OverBudgetError, OwnerLostError } from '../../base/errors.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { NewBatch } from '../../ledger/ledger.ts';
import { goRealtime, refuseRequests } from '../answer/delivery.ts';
import { type OwnReason, ownAnswer } from '../answer/own-answer.ts';
import { refuseUnsent } from '../collect/batch-endings.ts';
import { labelsOf } from '../events/batch-labels.ts';
import { type FlushReason, factsOf, publish } from '../events/events.ts';
import type { Batch } from '../model/batch.ts';
import type { CapturedCall, EngineScope, Lane, OrdinaryLane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Deadlines } from '../watch/deadlines.ts';
import type { BatchLife, BatchStart } from './batch-life.ts';
import type { Budgets } from './budgets.ts';
import { enterBatches, newBatch, startOf } from './new-batch.ts';
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
  /** Sends a request as an ordinary call. */
  sendOrdinary(request: Request, lane: OrdinaryLane): void;
  /** The lane that requests can take where this one is wanted: a model may have no flex tier. */
  laneOf(queue: RequestQueue, wanted: Lane, scope: EngineScope): Promise<Lane>;
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

  submit(queue: RequestQueue, flushed: readonly Request[], reason: FlushReason): void {
    announce(queue, flushed, reason);
    // A batch that was cancelled at their deadline may have brought them here.
    this.#services.deadlines.endDueOf(flushed);
    const requests = flushed.filter(({ isWantedInTime }) => isWantedInTime);
    if (requests.length === 0) return;
    const { minBatch = 1, onSmallBatch } = requests[0]?.scope ?? {};
    const isTooFew = requests.length < minBatch;
    // What their clients have signed may be too old by now: such calls are ours.
    if (isTooFew && (onSmallBatch === 'flex' || queue.account.isSigned)) {
      this.#context.background('send a few calls', this.#sendFew(queue, requests, onSmallBatch));
      return;
    }
    if (isTooFew && !haveBegun(requests)) {
      this.#services.withdraw(requests);
      const sent = inTurns(requests, (request) => {
        for (const caller of request.waiting) goRealtime(caller, request);
      });
      this.#context.background('send ordinary calls', sent);
      return;
    }
    this.#pass(queue, requests);
  }

  /** A model without a flex tier has them batched: nobody has asked for the full price. */
  async #sendFew(
    queue: RequestQueue,
    requests: readonly Request[],
    wanted: OrdinaryLane = 'realtime',
  ): Promise<void> {
    const [first] = requests;
    const lane = first && (await this.#services.laneOf(queue, wanted, first.scope));
    if (lane === undefined || lane === 'batch') this.#pass(queue, requests);
    else for (const request of requests) this.#services.sendOrdinary(request, lane);
  }

  /** The provider takes no batch of so few. One by one is then the only way, and costs more: it is said. */
  async #sendTooFew(queue: RequestQueue, requests: readonly Request[]): Promise<void> {
    const [first] = requests;
    if (first === undefined) return;
    const { onSmallBatch, emit } = first.scope;
    const laneOf = await this.#services.laneOf(queue, onSmallBatch, first.scope);
    const lane = laneOf === 'flex' ? 'flex' : 'realtime';
    const { batcher, model, limits } = queue;
    const price = lane === 'flex' ? 'in its flex tier' : 'at full price';
    const few = requests.length === 1 ? 'one request is' : `${requests.length} requests are`;
    const text =
      `${batcher.info.name} ${model}: ${few} fewer than the ${limits.leastItems} that a batch needs, so they go out one by one, ` +
      `${price}. A longer maxWindow waits for more of them`;
    emit('notice', { notice: 'hint', text });
    for (const request of requests) this.#services.sendOrdinary(request, lane);
  }

  #pass(queue: RequestQueue, requests: readonly Request[]): void {
    const { lacks } = queue;
    // They were for another lane, which has turned out not to be there.
    if (lacks !== undefined) {
      const refused = refuseRequests(this.#context, requests, ({ batcher }) =>
        ownAnswer(batcher, 'unsupported', lacks),
      );
      this.#context.background('refuse requests that cannot be batched', refused);
      return;
    }
    if (queue.gate) queue.gate.pass(queue, requests);
    else this.send(queue, requests);
  }

  /** Packs and sends requests, also those of a refused batch, in the company they are in now. */
  send(queue: RequestQueue, requests: readonly Request[]): void {
    const sent = this.#pack(queue, requests).catch((error: unknown) => {
      if (!this.#context.stopped.aborted) return this.#refuseUnsent(requests, error);
    });
    this.#context.background('send requests', sent);
  }

  async #pack(queue: RequestQueue, requests: readonly Request[]): Promise<void> {
    this.#services.deadlines.endDueOf(requests);
    const quota = await this.#services.permits.quotaOf(queue);
    await nextTurn();
    const { batcher } = queue;
    const { batches, tooLarge } = packFor(queue, withoutEndedScopes(requests), quota.limit);
    const { background } = this.#context;
    const { leastItems = 1 } = queue.limits;
    for (const members of batches) {
      if (members.length >= leastItems)
        background('send a batch', this.#send(queue, quota, members));
      else background('send too few for a batch', this.#sendTooFew(queue, members));
    }
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
      await nextTurn();
      const { budgets, deadlines } = this.#services;
      const wanted = requests.filter(({ isWantedInTime }) => isWantedInTime);
      const money = await budgets.ofBatch(queue, wanted, wanted[0]?.scope);
      deadlines.endDueOf(requests);
      const members = this.#ours(withoutEndedScopes(requests));
      batch = members.length > 0 ? await this.#plan(queue, members, money) : undefined;
      // Time may have run out for some while the plan was written.
      deadlines.endDueOf(requests);
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

  /** `undefined`: it could not be written down, and its callers have been told. */
  async #plan(
    queue: RequestQueue,
    members: readonly Request[],
    money: Pick<NewBatch, 'estimate' | 'budget' | 'purse'>,
  ): Promise<Batch | undefined> {
    const begun: Request[] = [];
    try {
      for (const request of members) {
        request.beginPlan();
        begun.push(request);
      }
      const labels = labelsOf(scopesOf(members));
      const rows = members.map(({ row }) => row);
      const traces = tracesOf(callsOf(members));
      const facts = { ...labels, ...money, ...(traces && { traces }) };
      const batch = await newBatch(this.#context, queue, rows, facts);
      batch.traces = traces;
      const slice = new Slice();
      for (const request of members) {
        if (slice.isOver) await slice.next();
        batch.add(request);
      }
      // All of them in one turn: a batch whose first members are gone must not look as if nobody wanted it.
      for (const request of members) request.enterBatch(batch);
      enterBatches(this.#context, batch);
      return batch;
    } catch (error) {
      for (const request of begun) request.leavePlan();
      if (error instanceof OwnerLostError) for (const one of members) this.#services.follow(one);
      else if (error instanceof OverBudgetError)
        await this.#services.budgets.refuse(members, error);
      else await this.#refuseUnsent(members, error, 'store');
      return undefined;
    }
  }

  #refuseUnsent(requests: readonly Request[], error: unknown, reason?: OwnReason): Promise<void> {
    const unsent = requests.filter(({ isUnsent }) => isUnsent);
    return refuseUnsent(this.#context, unsent, error, reason);
  }
}

/** Only a whole call can go out as an ordinary one, and not after a part of it is in a batch. */
function haveBegun(requests: readonly Request[]): boolean {
  return requests.some(({ waiting }) => waiting.some(({ part }) => part?.hasBegun()));
}

function* callsOf(requests: readonly Request[]): Generator<CapturedCall> {
  for (const { callers } of requests) for (const { call } of callers) yield call;
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

/** Drops the calls of scopes that have ended, and returns the requests that may still go into a batch. */
function withoutEndedScopes(requests: readonly Request[]): Request[] {
  return requests.filter((request) => {
    for (const { call, scope } of request.callers) if (scope.ended) call.drop();
    return request.isWantedInTime;
  });
}

function announce(queue: RequestQueue, requests: readonly Request[], reason: FlushReason): void {
  const event = { ...factsOf(queue.batcher, queue), count: requests.length, reason };
  publish('queue:flushed', event);
  for (const scope of scopesOf(requests)) scope.emit('queue:flushed', event);
}
