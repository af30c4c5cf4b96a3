import { invariant } from '../../errors.ts';
import { isOpen } from '../batch-moves.ts';
import type { BatchSummary } from '../ledger.ts';
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
