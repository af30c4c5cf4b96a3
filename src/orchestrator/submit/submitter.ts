import { randomBytes } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import { BatchlingError, LeaseLostError, messageOf } from '../../errors.ts';
import { orAborted } from '../../http/backoff.ts';
import type { ItemId } from '../../types.ts';
import type { Spool } from '../capture/spool.ts';
import { cleanUp } from '../collect/clean-up.ts';
import { refuse, refuseAll } from '../collect/delivery.ts';
import { dissolve } from '../collect/dissolve.ts';
import type { Refusals } from '../collect/refusals.ts';
import { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { type FlushReason, publish } from '../model/events.ts';
import { failureOf } from '../model/failures.ts';
import { inTurns } from '../model/in-turns.ts';
import { labelsOf } from '../model/labels.ts';
import { type OwnReason, ownAnswer } from '../model/own-answer.ts';
import type { EngineScope, PendingRequest } from '../model/request.ts';
import { Slice } from '../model/slice.ts';
import { pack } from '../queue/packer.ts';
import type { Queue } from '../queue/queue.ts';
import { type Deadlines, goRealtime } from '../watch/deadlines.ts';
import { TooMuchError, UnwantedError } from '../watch/unwanted.ts';
import { planOf } from './plan.ts';
import type { Governor } from './quotas.ts';
import type { Protocol } from './submit-protocol.ts';
import type { Place, Room } from './token-quota.ts';
import { waitForRoom, waitForSlot } from './waits.ts';

/** What the submitter hands on to. */
interface Stations {
  readonly governor: Governor;
  readonly protocol: Protocol;
  readonly refusals: Refusals;
  readonly deadlines: Deadlines;
  readonly spool: Spool;
  withdraw(requests: readonly PendingRequest[]): void;
}

/** A batch that is in the ledger and yet to be sent, with the requests in the order of its lines. */
interface Planned {
  readonly batch: ActiveBatch;
  readonly members: readonly PendingRequest[];
}

/** Packs flushed requests into batches and sends each, once there is room for it. */
export class Submitter {
  readonly #workshop: Workshop;
  readonly #stations: Stations;

  constructor(workshop: Workshop, stations: Stations) {
    this.#workshop = workshop;
    this.#stations = stations;
  }

  submit(queue: Queue, requests: readonly PendingRequest[], reason: FlushReason): void {
    announce(queue, requests, reason);
    if (requests.length < (requests[0]?.scope.minBatch ?? 1)) {
      this.#stations.withdraw(requests);
      const sent = inTurns(requests, (pending) => pending.waiters().forEach(goRealtime));
      this.#workshop.background('send ordinary calls', sent);
      return;
    }
    this.send(queue, requests);
  }

  /** Also for requests of a batch that was refused, in the company they are in now. */
  send(queue: Queue, requests: readonly PendingRequest[]): void {
    const sent = this.#pack(queue, requests).catch((error: unknown) => {
      if (!this.#workshop.stopped.aborted) return this.#refuse(requests, error);
    });
    this.#workshop.background('send requests', sent);
  }

  async #pack(queue: Queue, requests: readonly PendingRequest[]): Promise<void> {
    this.#endLate(requests);
    const room = await this.#stations.governor.room(queue);
    // Of fifty thousand each step takes a turn.
    await immediate();
    const wanted = requests.filter(isWanted);
    await immediate();
    const { batcher, policy } = queue;
    const limits = batcher.limits(queue);
    const { batches, tooLarge } = pack(wanted, {
      ...limits,
      items: Math.min(policy.batchSize ?? limits.recommendedItems, limits.items),
      tokens: room.limit,
      frameBytes: (count) => batcher.frameBytes(count),
    });
    const { ledger, owner, background } = this.#workshop;
    for (const members of batches) background('send a batch', this.#send(queue, room, members));
    if (tooLarge.length === 0) return;
    const message = `The request is larger than a ${batcher.info.name} batch may be.`;
    // On its own: if it fails, that is no trouble of those that are being sent.
    const refused = refuseAll(ledger, owner, tooLarge, 'too_large', message);
    background('refuse requests that are too large', refused);
  }

  async #send(queue: Queue, room: Room, requests: readonly PendingRequest[]): Promise<void> {
    const tokens = requests.reduce((sum, pending) => sum + pending.tokens, 0);
    const place = room.join(tokens, requests[0], requests.length);
    const { troubles, stopped } = this.#workshop;
    const concerned = { wire: queue.wire, scopes: scopesOf(requests) };
    let planned: Planned | undefined;
    try {
      await waitForRoom(troubles, concerned, queue, orAborted(place.turn, stopped));
      if (place.tokens > room.limit && requests.length > 1) {
        // Less is known to fit than when it was packed.
        place.leave();
        this.send(queue, requests);
        return;
      }
      planned = await this.#planInSlot(queue, place, requests);
    } finally {
      // Whatever went wrong: what is not sent takes up no room.
      if (planned === undefined) place.leave();
    }
    if (planned) await this.#carryOut(planned);
  }

  /** `undefined`: nobody wants them any more, or the plan could not be written down. */
  async #planInSlot(
    queue: Queue,
    place: Place,
    requests: readonly PendingRequest[],
  ): Promise<Planned | undefined> {
    const { slots } = queue.account;
    const ids = await idsOf(requests);
    const { troubles, stopped } = this.#workshop;
    const scopes = scopesOf(requests);
    const most = queue.mostInFlight(scopes);
    const entered = slots.acquire(most, stopped, queue);
    await waitForSlot(troubles, { wire: queue.wire, scopes }, queue, entered, most);
    try {
      await immediate();
      const members = requests.filter(isWanted);
      const batch = members.length > 0 ? await this.#plan(queue, members, ids) : undefined;
      if (batch === undefined) return undefined;
      batch.place = place;
      batch.holdSlot();
      return { batch, members };
    } finally {
      // A batch holds a slot of its own by now; without one nothing may hold this.
      slots.release();
      this.#endLate(requests);
    }
  }

  /** On its own: whatever becomes of them, the others must go on. None of them waits for room. */
  #endLate(requests: readonly PendingRequest[]): void {
    const late = requests.filter(({ settled, due }) => due && !settled);
    if (late.length === 0) return;
    const ended = this.#stations.deadlines.end(late);
    this.#workshop.background('end requests at their deadline', ended);
  }

  /** `undefined`: it could not be written down, and its callers have been told. */
  async #plan(
    queue: Queue,
    members: readonly PendingRequest[],
    ids: ReadonlyMap<PendingRequest, ItemId>,
  ): Promise<ActiveBatch | undefined> {
    const { ledger, owner, batches, stopped } = this.#workshop;
    const token = `bl_${randomBytes(8).toString('hex')}`;
    for (const pending of members) pending.planning = true;
    try {
      await immediate();
      const labels = labelsOf(scopesOf(members));
      await immediate();
      const lease = await ledger.plan(
        owner,
        { token, queue: queue.id, ...labels },
        members.map((pending) => pending.request),
      );
      const batch = new ActiveBatch(token, queue, lease);
      const slice = new Slice();
      for (const pending of members) {
        if (slice.isOver) await slice.next();
        batch.seat(pending, ids.get(pending) ?? pending.id);
      }
      // In one go: a batch whose first members are gone must not look as if nobody wanted it.
      for (const pending of members) pending.batch = batch;
      batches.set(lease.batch, batch);
      if (stopped.aborted) batch.ending.abort(stopped.reason);
      return batch;
    } catch (error) {
      await this.#refuse(members, error, 'store');
      return undefined;
    } finally {
      for (const pending of members) {
        pending.planning = false;
        // It was kept for the plan.
        if (pending.settled && !pending.batch) pending.queue.spool.letGo(pending);
      }
    }
  }

  async #carryOut({ batch, members }: Planned): Promise<void> {
    const { protocol, spool } = this.#stations;
    try {
      await immediate();
      await protocol.send(batch, planOf(batch, members, spool));
    } catch (error) {
      await this.#giveUp(batch, error);
    }
  }

  /** The batch will not be sent: each caller gets the real reason, or a place in another one. */
  async #giveUp(batch: ActiveBatch, error: unknown): Promise<void> {
    const { ledger, stopped, report, rejoin, background } = this.#workshop;
    const { refusals, deadlines } = this.#stations;
    batch.freeSlot();
    if (stopped.aborted) return;
    if (error instanceof LeaseLostError) {
      batch.makeRoom();
      rejoin(batch);
      return;
    }
    const reason = messageOf(error);
    let trouble: unknown;
    await ledger.refused(batch.lease, reason).catch((broken: unknown) => {
      report(`note that batch ${batch.token} was refused`, broken);
      trouble = broken;
    });
    background(`clean up after batch ${batch.token}`, cleanUp(this.#workshop, batch));
    const failure = failureOf(error);
    if (failure) {
      // There was no room for as long as we had patience.
      const next = failure.next === 'later' ? 'fail' : failure.next;
      await refusals.handle(batch, { ...failure, next }, trouble);
      return;
    }
    batch.makeRoom();
    const waiting = await dissolve(this.#workshop, batch);
    if (error instanceof UnwantedError) await deadlines.end(waiting);
    else if (trouble !== undefined) await this.#refuse(waiting, trouble, 'store');
    else if (error instanceof TooMuchError) this.send(batch.queue, waiting);
    else await this.#refuse(waiting, error);
  }

  async #refuse(
    requests: readonly PendingRequest[],
    error: unknown,
    reason: OwnReason = isStoreError(error) ? 'store' : 'missing',
  ): Promise<void> {
    const { ledger, owner } = this.#workshop;
    const message = messageOf(error);
    await refuse(ledger, owner, requests, ({ batcher }) =>
      ownAnswer(batcher, reason, `The batch could not be sent: ${message}`),
    );
  }
}

async function idsOf(
  requests: readonly PendingRequest[],
): Promise<ReadonlyMap<PendingRequest, ItemId>> {
  const ids = new Map<PendingRequest, ItemId>();
  const slice = new Slice();
  await slice.next();
  for (const pending of requests) {
    if (slice.isOver) await slice.next();
    ids.set(pending, pending.id);
  }
  await slice.next();
  return ids;
}

function scopesOf(requests: readonly PendingRequest[]): ReadonlySet<EngineScope> {
  const scopes = new Set<EngineScope>();
  let last: EngineScope | undefined;
  for (const { scope } of requests) {
    if (scope !== last) scopes.add(scope);
    last = scope;
  }
  return scopes;
}

/** Whoever gave up while the batch waited for room needs its body no more. */
function isWanted(pending: PendingRequest): boolean {
  if (pending.scope.ended) pending.call.drop();
  const isGone = pending.call.aborted || pending.settled;
  if (isGone) pending.queue.spool.letGo(pending);
  return !isGone && !pending.due;
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
  const scopes = scopesOf(requests);
  for (const scope of scopes) {
    scope.emit('queue:flushed', event);
    const own = scopes.size === 1 ? requests : requests.filter((one) => one.scope === scope);
    scope.rounds?.flushed(own, reason);
  }
}

function isStoreError(error: unknown): boolean {
  return BatchlingError.isInstance(error) && error.code === 'STORE_UNUSABLE';
}
