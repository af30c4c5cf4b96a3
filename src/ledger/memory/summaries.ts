import { invariant } from '../../base/errors.ts';
import { isOpen } from '../batch-moves.ts';
import type { BatchSummary, MemberPage, MemberSummary, OpenBatch } from '../ledger.ts';
import type { MemoryBatch, MemoryState } from './state.ts';

export function list(
  state: MemoryState,
  query: { open?: boolean; limit?: number } = {},
): BatchSummary[] {
  return [...state.batches.values()]
    .reverse()
    .filter((batch) => query.open === undefined || isOpen(batch.state) === query.open)
    .slice(0, query.limit)
    .map((batch) => summarise(state, batch));
}

export function show(state: MemoryState, id: string): BatchSummary | undefined {
  const batch = [...state.batches.values()]
    .reverse()
    .find((candidate) => candidate.token === id || candidate.remoteId === id);
  return batch && summarise(state, batch);
}

export function members(
  state: MemoryState,
  token: string,
  { from = 0, limit }: { from?: number; limit: number },
): MemberPage {
  const batch = [...state.batches.values()].find((candidate) => candidate.token === token);
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
}

export function unfinished(state: MemoryState): OpenBatch[] {
  return [...state.batches.values()]
    .filter((batch) => isOpen(batch.state))
    .map((batch) => {
      const { id, token, count, remoteId } = batch;
      const queue = state.queues.get(batch.queue);
      const account = queue && state.accountKeys.get(queue.account);
      invariant(queue && account, `Batch ${token} has no queue`);
      const owner = state.owners.get(batch.owner);
      const { run, host, pid } = owner ?? { run: '', host: '', pid: 0 };
      return {
        id,
        token,
        state: batch.state,
        count,
        ...(remoteId !== undefined && { remoteId }),
        queue: { ...queue, id: batch.queue },
        account,
        ...(owner?.standing === 'here' && { owner: { run, host, pid } }),
      };
    });
}

function summarise(state: MemoryState, batch: MemoryBatch): BatchSummary {
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
