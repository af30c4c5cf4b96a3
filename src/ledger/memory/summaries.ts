import { invariant } from '../../base/errors.ts';
import { isOpen } from '../batch-moves.ts';
import type { BatchSummary, BatchTime, Ledger, MemberSummary, QueueKey } from '../ledger.ts';
import { batchTime, leastAnswered, mostBatchTimes } from '../sql/batch-times.ts';
import { type MemoryBatch, type MemoryState, ownerHere } from './state.ts';

/** What people ask of batches. */
export function summaryMethods(state: MemoryState) {
  const newestFirst = () => [...state.batches.values()].reverse();
  return {
    async list({ open, limit } = {}) {
      return newestFirst()
        .filter((batch) => open === undefined || isOpen(batch.state) === open)
        .slice(0, limit)
        .map((batch) => summarise(state, batch));
    },
    async batchTimes(of) {
      const times: BatchTime[] = [];
      const room = { ended: mostBatchTimes, open: mostBatchTimes };
      for (const batch of newestFirst()) {
        const { token, count, acceptedAt, endedAt = null } = batch;
        const { provider, model } = state.queues.get(batch.queue) as QueueKey;
        if (of && (of.provider !== provider || of.model !== model)) continue;
        if (acceptedAt === undefined || !hasTime(batch)) continue;
        const kind = batch.state === 'ended' ? 'ended' : 'open';
        if (room[kind] === 0) continue;
        room[kind] -= 1;
        const row = { token, provider, model, count, accepted_at: acceptedAt, ended_at: endedAt };
        times.push(batchTime(row, state.now()));
      }
      return times;
    },
    async show(id) {
      const batch = newestFirst().find(({ token, remoteId }) => token === id || remoteId === id);
      return batch && summarise(state, batch);
    },
    async members(token, { from = 0, limit }) {
      const batch = newestFirst().find((candidate) => candidate.token === token);
      const page: MemberSummary[] = [];
      for (const [place, request] of (batch?.members ?? []).entries()) {
        if (place < from || request.batch !== batch || !state.requests.has(request.id)) continue;
        if (page.length === limit) return { members: page, next: place };
        const { id, fingerprint, occurrence, attempt, at, answer } = request;
        const is = request.state as MemberSummary['state'];
        const shown = { request: id, fingerprint, occurrence, attempt, state: is, at };
        page.push({ ...shown, ...(answer && { answer }) });
      }
      return { members: page };
    },
    async unfinished() {
      const open = [...state.batches.values()].filter((batch) => isOpen(batch.state));
      return open.map((batch) => {
        const { id, token, count, remoteId } = batch;
        const queue = state.queues.get(batch.queue);
        const account = queue && state.accountKeys.get(queue.account);
        invariant(queue && account, `Batch ${token} has no queue`);
        const owner = ownerHere(state, batch.owner);
        return {
          id,
          token,
          state: batch.state,
          count,
          ...(remoteId !== undefined && { remoteId }),
          queue: { ...queue, id: batch.queue },
          account,
          ...(owner && { owner }),
        };
      });
    },
  } satisfies Partial<Ledger>;
}

function hasTime({ state, failure, answered, count }: MemoryBatch): boolean {
  if (state !== 'ended') return state === 'accepted';
  return failure === undefined && answered >= count * leastAnswered;
}

export function summarise(state: MemoryState, batch: MemoryBatch): BatchSummary {
  const queue = state.queues.get(batch.queue);
  invariant(queue, `Batch ${batch.token} has no queue`);
  return {
    token: batch.token,
    state: batch.state,
    provider: queue.provider,
    endpoint: queue.endpoint,
    model: queue.model,
    base: queue.base,
    ...(batch.name !== undefined && { name: batch.name }),
    tags: batch.tags,
    run: batch.run,
    ...(batch.remoteId !== undefined && { remoteId: batch.remoteId }),
    ...(batch.raw !== undefined && { raw: batch.raw }),
    ...(batch.counts && { counts: batch.counts }),
    count: batch.count,
    answered: batch.answered,
    ...(batch.failure !== undefined && { failure: batch.failure }),
    ...(Object.keys(batch.cost).length > 0 && { cost: { ...batch.cost } }),
    createdAt: batch.createdAt,
    ...(batch.acceptedAt !== undefined && { acceptedAt: batch.acceptedAt }),
    ...(batch.endedAt !== undefined && { endedAt: batch.endedAt }),
  };
}
