import type { Answer, Counts, Dict, Handle } from '../../base/types.ts';
import type { RequestState, Standing } from '../admission-rules.ts';
import type { StoredCosts } from '../daily-costs.ts';
import type {
  AccountId,
  AccountKey,
  BatchCost,
  BatchId,
  BatchState,
  Lease,
  OwnerId,
  OwnerInfo,
  QueueId,
  QueueKey,
  RequestId,
} from '../ledger.ts';
import type { Keep } from '../ledger-options.ts';
import { leaseLost, ownerLost } from '../lost.ts';

export interface MemoryOwner extends OwnerInfo {
  readonly id: OwnerId;
  /** `gone`: it is no longer here, though its part of its run is not finished. */
  standing: 'here' | 'gone' | 'closed';
  troubles?: readonly string[];
}

export interface MemoryRequest {
  readonly id: RequestId;
  readonly key: string;
  readonly fingerprint: Uint8Array;
  readonly occurrence: number;
  /** The row of the generation before this one. */
  readonly older: MemoryRequest | undefined;
  queue: QueueId;
  owner: OwnerId;
  batch: MemoryBatch | undefined;
  state: RequestState;
  attempt: number;
  /** It is on the wire as an ordinary call. */
  sent: boolean;
  /** The moment at which it came into its state. */
  at: number;
  answer: Answer | undefined;
  body: string | undefined;
}

export interface MemoryBatch {
  readonly id: BatchId;
  readonly token: string;
  readonly queue: QueueId;
  readonly run: string;
  readonly name: string | undefined;
  readonly tags: Dict;
  readonly traces: readonly string[] | undefined;
  readonly count: number;
  readonly createdAt: number;
  owner: OwnerId;
  epoch: number;
  state: BatchState;
  members: MemoryRequest[];
  answered: number;
  readonly cost: { -readonly [Name in keyof BatchCost]: BatchCost[Name] };
  /** Answers whose tokens are known. */
  counted: number;
  handle: Handle;
  remoteId?: string;
  raw?: string;
  counts?: Counts;
  cursor?: string;
  failure?: string | undefined;
  creatingAt?: number;
  acceptedAt?: number;
  endedAt?: number;
}

/** All data of a memory ledger. Owners live until they leave: there is no other process. */
export interface MemoryState {
  readonly now: () => number;
  readonly keep: Keep;
  readonly owners: Map<OwnerId, MemoryOwner>;
  readonly accounts: Map<string, AccountId>;
  readonly accountKeys: Map<AccountId, AccountKey>;
  readonly queueIds: Map<string, QueueId>;
  readonly queues: Map<QueueId, QueueKey>;
  /** By account and quota. */
  readonly limits: Map<string, { tokens: number; named: boolean; learntAt: number }>;
  readonly requests: Map<RequestId, MemoryRequest>;
  /** The newest generation by fingerprint and occurrence. */
  readonly newest: Map<string, MemoryRequest>;
  readonly batches: Map<BatchId, MemoryBatch>;
  readonly runCounts: Map<string, number>;
  /** Dollars that runs have spent outside of batches. */
  readonly runCosts: Map<string, number>;
  /** By their labels. */
  readonly dailyCosts: Map<string, StoredCosts>;
  lastId: number;
  writes: number;
}

export function requireOwner(state: MemoryState, id: OwnerId): MemoryOwner {
  const owner = state.owners.get(id);
  if (owner?.standing === 'here') return owner;
  throw ownerLost(id, owner ? 'has left' : 'never joined');
}

export function isHere(state: MemoryState, id: OwnerId): boolean {
  return state.owners.get(id)?.standing === 'here';
}

/** An owner that is here, as others see it. */
export function ownerHere(state: MemoryState, id: OwnerId): OwnerInfo | undefined {
  const owner = state.owners.get(id);
  if (owner?.standing !== 'here') return undefined;
  const { run, host, pid, troubles = [] } = owner;
  return { run, host, pid, ...(troubles.length > 0 && { troubles }) };
}

/** The batch, if the lease still holds. */
export function findLeased(state: MemoryState, lease: Lease): MemoryBatch | undefined {
  const batch = state.batches.get(lease.batch);
  const isCurrent = batch?.owner === lease.owner && batch.epoch === lease.epoch;
  return isCurrent && isHere(state, lease.owner) ? batch : undefined;
}

export function requireLease(state: MemoryState, lease: Lease): MemoryBatch {
  const batch = findLeased(state, lease);
  if (batch) return batch;
  throw leaseLost([lease]);
}

export function standingOf(state: MemoryState, id: OwnerId, me: MemoryOwner): Standing {
  const owner = state.owners.get(id);
  const closed = owner === undefined || owner.standing === 'closed';
  const alive = owner?.standing === 'here';
  return { isMe: id === me.id, sameRun: owner?.run === me.run, closed, alive };
}

export function forget(state: MemoryState, request: MemoryRequest): void {
  state.requests.delete(request.id);
  request.batch = undefined;
  if (state.newest.get(request.key) !== request) return;
  const older = olderOf(state, request);
  if (older) state.newest.set(request.key, older);
  else state.newest.delete(request.key);
}

/** The next older generation that has not been forgotten. */
export function olderOf(state: MemoryState, request: MemoryRequest): MemoryRequest | undefined {
  let older = request.older;
  while (older && !state.requests.has(older.id)) older = older.older;
  return older;
}

export function free(request: MemoryRequest, owner: OwnerId, now: number): void {
  request.state = 'admitted';
  request.batch = undefined;
  request.owner = owner;
  request.sent = false;
  request.at = now;
}
