import { isOpen } from '../batch-moves.ts';
import type { PruneQuery, PruneReport } from '../ledger.ts';
import { forget, type MemoryBatch, type MemoryRequest, type MemoryState } from './state.ts';

/** Drops what is over and belongs to no owner that is still here. */
export function prune(state: MemoryState, query: PruneQuery): PruneReport {
  const report = { requests: 0, batches: 0, bytes: 0 };
  const dropped = new Set<MemoryBatch>();
  const drop = (request: MemoryRequest) => {
    if (request.batch) dropped.add(request.batch);
    report.requests += 1;
    report.bytes += sizeOf(request);
    forget(state, request);
  };

  const { olderThan, maxBytes } = query;
  const before = olderThan === undefined ? undefined : state.now() - olderThan;
  if (before !== undefined) {
    for (const request of state.requests.values()) {
      if (request.at < before && request.state !== 'planned' && isLeft(state, request.owner)) {
        drop(request);
      }
    }
  }
  if (maxBytes !== undefined) {
    let size = 0;
    for (const request of state.requests.values()) size += sizeOf(request);
    const final = [...state.requests.values()].filter(
      ({ state: is, owner }) => (is === 'answered' || is === 'failed') && isLeft(state, owner),
    );
    for (const request of final) {
      if (size <= maxBytes) break;
      size -= sizeOf(request);
      drop(request);
    }
  }

  for (const batch of state.batches.values()) {
    const old = before !== undefined && batch.endedAt !== undefined && batch.endedAt < before;
    if (isOpen(batch.state) || !isLeft(state, batch.owner) || !(old || dropped.has(batch)))
      continue;
    if (batch.members.some((member) => member.batch === batch)) continue;
    state.batches.delete(batch.id);
    report.batches += 1;
  }
  return report;
}

function isLeft(state: MemoryState, owner: number): boolean {
  return state.owners.get(owner)?.closed !== false;
}

function sizeOf(request: MemoryRequest): number {
  const { answer, body } = request;
  return (
    (answer ? Buffer.byteLength(answer.body) + JSON.stringify(answer.headers).length : 0) +
    (body ? Buffer.byteLength(body) : 0)
  );
}
