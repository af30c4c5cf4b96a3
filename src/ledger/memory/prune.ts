import { isOpen } from '../batch-moves.ts';
import type { BatchId, PruneQuery, PruneReport, RequestId } from '../ledger.ts';
import { forget, isHere, type MemoryBatch, type MemoryRequest, type MemoryState } from './state.ts';

/** Drops what is over and belongs to no owner that is still here. A dry run does it to a copy. */
export function prune(state: MemoryState, query: PruneQuery): PruneReport {
  state.writes += 1;
  return drop(query.dryRun ? copyOf(state) : state, query);
}

function drop(state: MemoryState, query: PruneQuery): PruneReport {
  const report = { requests: 0, batches: 0, bytes: 0 };
  const dropped = new Set<MemoryBatch>();
  const dropOne = (request: MemoryRequest) => {
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
        dropOne(request);
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
      dropOne(request);
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

/** Everything that pruning changes: which requests and batches there are, and which belong together. */
function copyOf(state: MemoryState): MemoryState {
  const requests = new Map<RequestId, MemoryRequest>();
  const batches = new Map<BatchId, MemoryBatch>();
  for (const [id, request] of state.requests) requests.set(id, { ...request });
  for (const [id, batch] of state.batches) {
    const members = batch.members.flatMap((member) => requests.get(member.id) ?? []);
    const copy = { ...batch, members };
    batches.set(id, copy);
    for (const member of members) if (member.batch === batch) member.batch = copy;
  }
  return { ...state, batches, requests, newest: new Map() };
}

function isLeft(state: MemoryState, owner: number): boolean {
  return !isHere(state, owner);
}

function sizeOf(request: MemoryRequest): number {
  const { answer, body } = request;
  return (
    (answer ? Buffer.byteLength(answer.body) + JSON.stringify(answer.headers).length : 0) +
    (body ? Buffer.byteLength(body) : 0)
  );
}
