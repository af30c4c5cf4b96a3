import type {
  BatchId,
  BatchState,
  BatchSummary,
  Ledger,
  MemberSummary,
  OwnerInfo,
  QueueKey,
  QueuePlace,
  RequestId,
} from './ledger.ts';

/**
 * What only people ask of a ledger: the page does, programs do not. Nothing here writes or takes a lock, and each call does a
 * bounded amount of work in short slices, however large the ledger is: what it did not get to, the next page has.
 */
export interface LedgerView {
  /** As `Ledger.changed`, but also for those that have not joined. */
  changed(): Promise<number>;
  /** Batches that a filter names, the newest first. A page may hold fewer than its limit and still have a next one. */
  batches(query: BatchQuery): Promise<BatchPage>;
  /** The providers and models that were ever asked. */
  models(): Promise<readonly Pick<QueueKey, 'provider' | 'model'>[]>;
  /** How many members a batch has in each state. */
  tally(token: string): Promise<MemberTally>;
  /** Requests that are admitted and in no batch. */
  waiting(): Promise<WaitingRequests>;
  /** The newest requests that have failed, at most so many. */
  failed(limit: number): Promise<readonly FoundRequest[]>;
  request(id: RequestId): Promise<FoundRequest | undefined>;
  /** All requests with the fingerprint of this one, itself included: at most a hundred, in their order. */
  samples(id: RequestId): Promise<readonly FoundRequest[]>;
  /** Requests with their texts, the newest first; `before`: only older ones. */
  requests(page: { before?: RequestId; limit: number }): Promise<readonly FoundRequest[]>;
}

/** For whoever looks at a ledger and writes nothing: the page, jobs and gateways. */
export type LedgerReader = Pick<
  Ledger,
  | 'answers'
  | 'batchTimes'
  | 'bodies'
  | 'costs'
  | 'list'
  | 'members'
  | 'salt'
  | 'show'
  | 'unfinished'
  | 'view'
>;

export interface BatchQuery {
  readonly states?: readonly BatchState[];
  readonly provider?: string;
  readonly model?: string;
  /** A part of the name, in any case. */
  readonly name?: string;
  readonly tag?: { readonly key: string; readonly value: string };
  /** Only batches that the provider refused, or that failed as a whole. */
  readonly failed?: boolean;
  /** Where the page before has ended. */
  readonly before?: BatchId;
  readonly limit: number;
}

export interface BatchPage {
  readonly batches: readonly BatchSummary[];
  /** The `before` of the next page; `undefined`: there is none. */
  readonly next?: BatchId;
}

export interface MemberTally {
  readonly planned: number;
  readonly answered: number;
  readonly failed: number;
}

export interface WaitingRequests {
  readonly queues: readonly WaitingQueue[];
  /** They are so many that not all were counted. */
  readonly isMore: boolean;
}

/** Requests of one queue that one owner is going to send. */
export interface WaitingQueue extends QueuePlace {
  readonly count: number;
  /** On the wire as ordinary calls. */
  readonly sent: number;
  /** The moment at which the oldest of them began to wait. */
  readonly since: number;
  /** Missing: their owner is gone. They wait until somebody asks for them again. */
  readonly owner?: OwnerInfo;
}

/** A request as people see it. */
export interface FoundRequest extends QueuePlace, Omit<MemberSummary, 'state'> {
  /** How often it was asked afresh before (`cache: false`). */
  readonly generation: number;
  readonly state: 'admitted' | 'planned' | 'answered' | 'failed';
  readonly batch?: Pick<BatchSummary, 'token' | 'name' | 'tags' | 'remoteId'>;
  /** What was asked; missing where the ledger does not keep it. */
  readonly body?: string;
}
