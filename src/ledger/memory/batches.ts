import { invariant } from '../../base/errors.ts';
import { nobody } from '../admission-rules.ts';
import { checkMove, checkPlanned, checkPolled, isOpen } from '../batch-moves.ts';
import type {
  AccountId,
  BatchId,
  BatchState,
  Lease,
  Ledger,
  Member,
  RemoteMark,
} from '../ledger.ts';
import { leaseLost } from '../lost.ts';
import { requireRoom } from './costs.ts';
import {
  findLeased,
  free,
  isHere,
  type MemoryBatch,
  type MemoryState,
  requireLease,
  requireOwner,
  standingOf,
} from './state.ts';

/** The life of a batch. */
export function batchMethods(state: MemoryState) {
  return {
    async plan(owner, planned, requests) {
      const { run: ownRun } = requireOwner(state, owner);
      const members = [...new Set(requests)].flatMap((id) => {
        const request = state.requests.get(id);
        return request?.state === 'admitted' && request.owner === owner ? [request] : [];
      });
      checkPlanned(members.length === requests.length, planned.token, owner);
      const { estimate, budget, purse: run = ownRun } = planned;
      if (budget !== undefined) requireRoom(state, run, estimate ?? 0, budget);
      const batch: MemoryBatch = {
        id: ++state.lastId,
        token: planned.token,
        queue: planned.queue,
        run,
        name: planned.name,
        tags: planned.tags,
        traces: planned.traces,
        count: members.length,
        createdAt: state.now(),
        owner,
        epoch: 1,
        state: 'planned',
        members,
        answered: 0,
        cost: estimate === undefined ? {} : { estimate },
        counted: 0,
        handle: {},
      };
      for (const member of members) {
        member.state = 'planned';
        member.batch = batch;
      }
      state.batches.set(batch.id, batch);
      state.writes += 1;
      return { batch: batch.id, owner, epoch: batch.epoch };
    },
    async staged(lease, handle) {
      move(state, lease, 'staged').handle = handle;
    },
    async creating(lease, handle, options) {
      const batch = requireLease(state, lease);
      checkMove(batch, 'creating');
      if (options.alone && anotherIsCreated(state, batch)) return false;
      batch.state = 'creating';
      batch.handle = handle;
      batch.creatingAt = state.now();
      return true;
    },
    async accepted(lease, remote) {
      const batch = move(state, lease, 'accepted');
      batch.acceptedAt = state.now();
      mark(batch, remote);
    },
    async polled(updates) {
      const lost: Lease[] = [];
      for (const { lease, remote } of updates) {
        const batch = findLeased(state, lease);
        if (!batch) {
          lost.push(lease);
          continue;
        }
        checkPolled(batch);
        mark(batch, remote);
      }
      if (lost.length > 0) throw leaseLost(lost);
    },
    refused: async (lease, failure) => finish(state, lease, 'refused', failure),
    released: async (lease) => finish(state, lease, 'released', undefined),
    async claim(owner, id) {
      const me = requireOwner(state, owner);
      const batch = state.batches.get(id);
      if (!batch || !isOpen(batch.state) || standingOf(state, batch.owner, me).alive)
        return undefined;
      batch.owner = owner;
      batch.epoch += 1;
      state.writes += 1;
      const queue = state.queues.get(batch.queue);
      invariant(queue, `Batch ${batch.token} has no queue`);
      return {
        lease: { batch: id, owner, epoch: batch.epoch },
        token: batch.token,
        state: batch.state,
        queue: { ...queue, id: batch.queue },
        handle: batch.handle,
        ...(batch.traces && { traces: batch.traces }),
        ...(batch.remoteId !== undefined && { remoteId: batch.remoteId }),
        ...(batch.cursor !== undefined && { cursor: batch.cursor }),
        ...(batch.creatingAt !== undefined && { creatingAge: ageOf(state, batch.creatingAt) }),
        ...(batch.acceptedAt !== undefined && { acceptedAge: ageOf(state, batch.acceptedAt) }),
        members: lines(state, id),
      };
    },
    lines: async (id) => lines(state, id),
    async giveBack(lease) {
      requireLease(state, lease).owner = nobody;
      state.writes += 1;
    },
    async claimable(account) {
      return [...state.batches.values()]
        .filter((batch) => isOpen(batch.state) && !isHere(state, batch.owner))
        .filter((batch) => account === undefined || accountOf(state, batch) === account)
        .map((batch) => batch.id);
    },
  } satisfies Partial<Ledger>;
}

/** The batch is over; members without an outcome become admitted again, with no attempt used. */
export function finish(
  state: MemoryState,
  lease: Lease,
  to: Extract<BatchState, 'ended' | 'refused' | 'released'>,
  failure: string | undefined,
): void {
  const batch = move(state, lease, to);
  state.writes += 1;
  batch.endedAt = state.now();
  batch.failure = failure;
  for (const member of batch.members) {
    if (member.batch === batch && member.state === 'planned') {
      free(member, lease.owner, state.now());
    }
  }
}

function lines(state: MemoryState, id: BatchId): Member[] {
  const batch = state.batches.get(id);
  const members = batch?.members.filter((member) => member.batch === batch) ?? [];
  return members.map((member) => ({
    request: member.id,
    fingerprint: member.fingerprint,
    occurrence: member.occurrence,
    attempt: member.attempt,
    settled: member.state !== 'planned',
  }));
}

/** An age is not negative, although the clock may have been set back since. */
function ageOf(state: MemoryState, at: number): number {
  return Math.max(0, state.now() - at);
}

function move(state: MemoryState, lease: Lease, to: BatchState): MemoryBatch {
  const batch = requireLease(state, lease);
  checkMove(batch, to);
  batch.state = to;
  return batch;
}

function mark(batch: MemoryBatch, remote: RemoteMark): void {
  batch.remoteId = remote.id;
  batch.raw = remote.raw;
  if (remote.counts) batch.counts = remote.counts;
}

function anotherIsCreated(state: MemoryState, batch: MemoryBatch): boolean {
  const own = state.queues.get(batch.queue);
  return [...state.batches.values()].some((other) => {
    if (other === batch || other.state !== 'creating') return false;
    const queue = state.queues.get(other.queue);
    return queue?.account === own?.account && queue?.base === own?.base;
  });
}

function accountOf(state: MemoryState, batch: MemoryBatch): AccountId | undefined {
  return state.queues.get(batch.queue)?.account;
}
