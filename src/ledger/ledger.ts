import type { Answer, Counts, Dict, Handle } from '../types.ts';

export type OwnerId = number;
export type AccountId = number;
export type QueueId = number;
export type RequestId = number;
export type BatchId = number;

/** Who works on this ledger: one engine of one process. */
export interface OwnerInfo {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
}

export interface AccountKey {
  readonly provider: string;
  /** Keyed hash; the credential itself never gets here. */
  readonly hash: Uint8Array;
  /** Name of the environment variable that held the key, `env:OPENAI_API_KEY`. */
  readonly hint?: string;
}

/** What is stored of a queue: enough to poll and collect its batches on another day. */
export interface QueueKey {
  readonly account: AccountId;
  readonly provider: string;
  /** Where the batch traffic goes, `https://api.openai.com/v1`. */
  readonly base: string;
  readonly endpoint: string;
  readonly model: string;
  /** Headers fixed per batch. Never a credential. */
  readonly batchHeaders: Dict;
  readonly partition?: string;
}

/** One call that wants its answer. */
export interface Ask {
  /** 32 bytes. */
  readonly fingerprint: Uint8Array;
  /** Which sample, from 0 on; `next` lets the ledger count for a run of several processes. */
  readonly occurrence: number | 'next';
  readonly queue: QueueId;
  /** false: answers of earlier, finished runs are not used. */
  readonly cache: boolean;
  /** Asked before and told to wait: a final error of the one who sent it is an answer, too. */
  readonly waiting?: boolean;
}

/**
 * The one atomic decision per call.
 * - `mine`: unknown, or its owner died before it was sent: now ours to send. `attempt`: how often it was
 *   tried by owners that are gone, if it was left between two attempts.
 * - `answered`: the answer is here.
 * - `wait`: someone sends it or has sent it. `batch` is set once it is planned; that batch may belong
 *   to a dead owner: try `claim`.
 */
export type Admission = { readonly request: RequestId; readonly occurrence: number } & (
  | { readonly is: 'mine'; readonly attempt?: number }
  | { readonly is: 'answered'; readonly answer: Answer; readonly batchToken?: string }
  | { readonly is: 'wait'; readonly batch?: BatchId }
);

/** How much an account may have under way in one room, as its provider taught us. */
export interface LearntLimit {
  /** Estimated tokens of all batches under way together. */
  readonly tokens: number;
  /** The provider named the number itself. */
  readonly named: boolean;
  /** Milliseconds since the epoch. */
  readonly learntAt: number;
}

/** The right to write about a batch. A stale `epoch` throws `LeaseLostError`. */
export interface Lease {
  readonly batch: BatchId;
  readonly owner: OwnerId;
  readonly epoch: number;
}

export interface NewBatch {
  readonly token: string;
  readonly queue: QueueId;
  readonly name?: string;
  readonly tags: Dict;
}

/** The states of a batch in the ledger; `batch-moves.ts` holds the moves. */
export type BatchState =
  | 'planned'
  | 'staged'
  | 'creating'
  | 'accepted'
  | 'ended'
  | 'refused'
  | 'released';

export interface RemoteMark {
  readonly id: string;
  readonly raw: string;
  readonly counts?: Counts;
}

/** A member of a batch. */
export interface Member {
  readonly request: RequestId;
  readonly fingerprint: Uint8Array;
  readonly occurrence: number;
  readonly attempt: number;
  /** It has its outcome already; only the others are still to be collected. */
  readonly settled: boolean;
}

/** A batch taken over from an owner that died or closed. */
export interface ClaimedBatch {
  readonly lease: Lease;
  readonly token: string;
  readonly state: BatchState;
  readonly queue: QueueKey & { readonly id: QueueId };
  readonly handle: Handle;
  readonly remoteId?: string;
  readonly cursor?: string;
  readonly creatingAt?: number;
  readonly acceptedAt?: number;
  readonly members: readonly Member[];
}

/** What became of a request. */
export type Settlement =
  /** Final: 2xx serves later runs, anything else only those who wait now. */
  | { readonly request: RequestId; readonly is: 'answer'; readonly answer: Answer }
  /** Goes back to its owner's queue with one attempt more. */
  | { readonly request: RequestId; readonly is: 'retry' }
  /** Nobody waits for it any more and it has no answer: forget it. */
  | { readonly request: RequestId; readonly is: 'release' };

export interface BatchSummary {
  readonly token: string;
  readonly state: BatchState;
  readonly provider: string;
  readonly endpoint: string;
  readonly model: string;
  readonly base: string;
  readonly name?: string;
  readonly tags: Dict;
  readonly run: string;
  readonly remoteId?: string;
  readonly raw?: string;
  readonly counts?: Counts;
  readonly count: number;
  readonly answered: number;
  readonly failure?: string;
  readonly createdAt: number;
  readonly acceptedAt?: number;
  readonly endedAt?: number;
}

export interface PruneQuery {
  /** Drop what is final and older than this moment (milliseconds since the epoch). */
  readonly before?: number;
  /** Then drop the oldest final answers until the store is at most this many bytes. */
  readonly maxBytes?: number;
}

export interface PruneReport {
  readonly requests: number;
  readonly batches: number;
  readonly bytes: number;
}

/**
 * The durable memory of requests, answers and batches. All methods are async and take arrays, so that
 * a server database can implement them; a SQLite file runs each in one transaction.
 *
 * Left out on purpose: HTTP, prices, timers, credentials, and transactions that a caller could hold.
 */
export interface Ledger {
  /** Random bytes of this ledger that key the account hashes. */
  readonly salt: Uint8Array;

  /** Registers an owner. It lives until `close`, or until its process dies. */
  join(owner: OwnerInfo): Promise<OwnerId>;
  account(key: AccountKey): Promise<AccountId>;
  queue(key: QueueKey): Promise<QueueId>;

  /** `room`: a name for what the limit is about, such as a model at a base. */
  limit(account: AccountId, room: string): Promise<LearntLimit | undefined>;
  /** The newest one replaces what was learnt before. */
  learn(
    account: AccountId,
    room: string,
    limit: Pick<LearntLimit, 'tokens' | 'named'>,
  ): Promise<void>;

  /** Decides for each ask; see `Admission`. The order of the result is that of the asks. */
  admit(owner: OwnerId, asks: readonly Ask[]): Promise<Admission[]>;
  /** Forgets requests that are admitted, ours and not planned yet; others are left alone. */
  withdraw(owner: OwnerId, requests: readonly RequestId[]): Promise<void>;
  /** Keeps bodies of admitted requests outside of memory. Erased when the request is final. */
  spool(bodies: readonly { request: RequestId; body: string }[]): Promise<void>;
  bodies(requests: readonly RequestId[]): Promise<Map<RequestId, string>>;

  /** The requests become members of a new batch, in this order. */
  plan(owner: OwnerId, batch: NewBatch, requests: readonly RequestId[]): Promise<Lease>;
  staged(lease: Lease, handle: Handle): Promise<void>;
  /**
   * Durable (FULL sync) before it resolves: from here on the provider may have the batch.
   * `alone`: false is returned, and nothing is written, while another batch of the same account at
   * the same base is being created.
   */
  creating(lease: Lease, handle: Handle, options: { alone: boolean }): Promise<boolean>;
  /** Durable (FULL sync) before it resolves. */
  accepted(lease: Lease, remote: RemoteMark): Promise<void>;
  /** The provider said no. Members go back to their owner (`requeue`) with no attempt used. */
  refused(lease: Lease, failure: string): Promise<void>;
  /** A batch that was never sent is given up; members of ours become admitted again. */
  released(lease: Lease): Promise<void>;
  polled(updates: readonly { lease: Lease; remote: RemoteMark }[]): Promise<void>;
  /** Outcomes of members and how far the results are read, in one transaction. */
  collected(lease: Lease, settlements: readonly Settlement[], cursor?: string): Promise<void>;
  ended(lease: Lease, failure?: string): Promise<void>;
  /** Outcomes of requests that are in no batch. */
  settled(owner: OwnerId, settlements: readonly Settlement[]): Promise<void>;

  /**
   * Takes over this batch if its owner is dead or closed or has given it back; `undefined` if it is
   * somebody's or has ended.
   */
  claim(owner: OwnerId, batch: BatchId): Promise<ClaimedBatch | undefined>;
  /** This owner works on the batch no more: whoever asks next may claim it, the same owner, too. */
  giveBack(lease: Lease): Promise<void>;
  /** Unfinished batches that can be claimed, of one account or of all. */
  claimable(account?: AccountId): Promise<BatchId[]>;

  /** A number that differs when another process may have written since the last time. Cheap. */
  changed(): Promise<number>;

  list(query?: { open?: boolean; limit?: number }): Promise<BatchSummary[]>;
  /** By local token or by the provider's id. */
  show(id: string): Promise<BatchSummary | undefined>;
  prune(query: PruneQuery): Promise<PruneReport>;
  /** The owner is done: what it left unfinished may be claimed by others. */
  leave(owner: OwnerId): Promise<void>;
  close(): Promise<void>;
}
