import type { Answer, Counts, Dict, Handle } from '../base/types.ts';

export type OwnerId = number;
export type AccountId = number;
export type QueueId = number;
export type RequestId = number;
export type BatchId = number;

/** An owner is one engine of one process that works on this ledger. */
export interface OwnerInfo {
  readonly run: string;
  readonly host: string;
  readonly pid: number;
  /** What is in its way now, and what it does about it, as it has told by `troubled`. Missing: nothing. */
  readonly troubles?: readonly string[];
}

export interface AccountKey {
  readonly provider: string;
  /** Keyed hash; the credential itself never gets here. */
  readonly hash: Uint8Array;
  /** Name of the environment variable that held the key, `env:OPENAI_API_KEY`. */
  readonly hint?: string;
}

/** The stored part of a queue key: enough to poll and collect its batches on another day. */
export interface QueueKey {
  readonly account: AccountId;
  readonly provider: string;
  /** The base URL of the batch traffic, `https://api.openai.com/v1`. */
  readonly base: string;
  readonly endpoint: string;
  readonly model: string;
  /** Headers fixed per batch. Never a credential. */
  readonly batchHeaders: Dict;
  readonly partition?: string;
}

/** Where requests of a queue go, and for which model. */
export type QueuePlace = Pick<QueueKey, 'provider' | 'endpoint' | 'model' | 'base'>;

/** One call that wants its answer. */
export interface Ask {
  /** 32 bytes. */
  readonly fingerprint: Uint8Array;
  /** The number of the sample, from 0 on; `next` lets the ledger count for a run of several processes. */
  readonly occurrence: number | 'next';
  readonly queue: QueueId;
  /** false: answers of earlier, finished runs are not used. */
  readonly cache: boolean;
  /** The caller asked before and was told to wait: a final error of the sender answers it, too. */
  readonly waiting?: boolean;
  /** The asker has let go of what it had admitted: what still belongs to it is its own to send again. */
  readonly returning?: boolean;
}

/**
 * The one atomic decision per call.
 * - `mine`: the request is unknown, or its owner was gone before it was planned. The asker sends it.
 *   `attempt`: how often owners that are gone have tried it, if they left it between two attempts. `sent`: such an
 *   owner had it on the wire as an ordinary call, so it may be paid for already.
 * - `answered`: the ledger has the answer.
 * - `wait`: an owner sends it or has sent it. `batch` is set once it is planned; the owner of that batch
 *   may be gone: try `claim`.
 */
export type Admission = { readonly request: RequestId; readonly occurrence: number } & (
  | { readonly is: 'mine'; readonly attempt?: number; readonly sent?: true }
  | { readonly is: 'answered'; readonly answer: Answer; readonly batchToken?: string }
  | { readonly is: 'wait'; readonly batch?: BatchId }
);

/** The token quota of an account with a model, learnt from what its provider refused. */
export interface LearntLimit {
  /** Estimated tokens of all batches under way together. */
  readonly tokens: number;
  /** The provider named the number itself. */
  readonly named: boolean;
  /**
   * Milliseconds since it was learnt. If the clock was set back meanwhile, the distance to the moment
   * at which it was learnt: a limit from far in the future must not hold until then.
   */
  readonly age: number;
}

/**
 * The right of an owner to write about a batch. Once another owner has claimed the batch, or the
 * lease's own owner is lost, every write under it throws `LeaseLostError`.
 */
export interface Lease {
  readonly batch: BatchId;
  readonly owner: OwnerId;
  readonly epoch: number;
}

export interface NewBatch {
  /** The traces that its requests were asked in, as W3C `traceparent`; only where the program is traced. */
  readonly traces?: readonly string[];
  readonly token: string;
  readonly queue: QueueId;
  readonly name?: string;
  readonly tags: Dict;
  /** Dollars it may cost; missing where no price is known. */
  readonly estimate?: number;
  /** Dollars that its whole run may cost. Missing: it is planned whatever the run has cost. */
  readonly budget?: number;
  /** The name of what the budget is for, where that is not its run: `day 2026-11-16`. The batch counts as one of that run. */
  readonly purse?: string;
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
  /** It has its outcome already: only the other members are still to be collected. */
  readonly settled: boolean;
}

/** A batch that is taken over from an owner that is gone. */
export interface ClaimedBatch extends Pick<OpenBatch, 'token' | 'state' | 'queue' | 'remoteId'> {
  /** As its plan said. */
  readonly traces?: readonly string[];
  readonly lease: Lease;
  readonly handle: Handle;
  readonly cursor?: string;
  /** Milliseconds since it was marked `creating`. Never negative, whatever the clock did. */
  readonly creatingAge?: number;
  /** Milliseconds since it was marked `accepted`. Never negative, whatever the clock did. */
  readonly acceptedAge?: number;
  readonly members: readonly Member[];
}

/** The cost of an answer. Dollars are missing where no price is known. */
export interface Cost {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The parts of its input that came out of the provider's cache, and that went in. Ledgers do not keep them. */
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  /** How many answers a request with `n` got, if not one. */
  readonly answers?: number;
  readonly paid?: number;
  readonly saved?: number;
}

/** The cost of a batch, in dollars and tokens, as far as it is known. */
export interface BatchCost
  extends Partial<Omit<Cost, 'answers' | 'cacheReadTokens' | 'cacheWriteTokens'>> {
  readonly estimate?: number;
}

/** A request that another owner has, as `admit` has told of it. */
export interface Wait {
  readonly request: RequestId;
  readonly batch?: BatchId;
}

/** Tells what would become of an ask, without asking. */
export type Look =
  /** The ledger has the answer. */
  | { readonly is: 'answered'; readonly answer: Answer }
  /** An owner sends it or has sent it. */
  | { readonly is: 'wait' }
  | { readonly is: 'new' };

/** What people call the calls of a scope. */
export interface CallLabels {
  readonly name?: string | undefined;
  readonly tags: Dict;
}

/** The outcome of a request. The first final outcome of a request wins; later ones are ignored. */
export type Settlement =
  /** Final. A 2xx answer serves later runs, any other only the callers that wait now. */
  | {
      readonly request: RequestId;
      readonly is: 'answer';
      readonly answer: Answer;
      readonly cost?: Cost;
      /** Who asked, where its batch is called something else: several scopes may share one. Its cost counts there. */
      readonly labels?: CallLabels;
    }
  /** The request is admitted again, with one attempt more. */
  | { readonly request: RequestId; readonly is: 'retry' }
  /** No caller waits for it any more and it has no answer: the ledger forgets it. */
  | { readonly request: RequestId; readonly is: 'release' };

/** A batch as `ls` and `show` print it. The only timestamps of this interface: they are for people. */
export interface BatchSummary extends QueuePlace {
  readonly token: string;
  readonly state: BatchState;
  readonly name?: string;
  readonly tags: Dict;
  readonly run: string;
  readonly remoteId?: string;
  readonly raw?: string;
  readonly counts?: Counts;
  readonly count: number;
  readonly answered: number;
  readonly failure?: string;
  readonly cost?: BatchCost;
  readonly createdAt: number;
  readonly acceptedAt?: number;
  readonly endedAt?: number;
}

/** How long a batch has taken, or takes already, in milliseconds by the clock of the ledger. */
export interface BatchTime extends Pick<BatchSummary, 'token' | 'provider' | 'model' | 'count'> {
  /** Since it was accepted. */
  readonly age: number;
  /** From its acceptance until it was collected; missing while it is under way. */
  readonly duration?: number;
}

/** A member of a batch as `show` and `export` print it. */
export interface MemberSummary extends Omit<Member, 'settled'> {
  /** `planned`: it has no outcome yet. */
  readonly state: 'planned' | 'answered' | 'failed';
  /** The moment at which it came into its state. */
  readonly at: number;
  /** `undefined`: it has none yet, or it is no longer kept. */
  readonly answer?: Answer;
}

export interface MemberPage {
  readonly members: readonly MemberSummary[];
  /** Where the next page begins; `undefined`: there is none. */
  readonly next?: number;
}

/** An unfinished batch, and all that is needed to reach it at its provider. */
export interface OpenBatch extends Pick<BatchSummary, 'token' | 'state' | 'count' | 'remoteId'> {
  readonly id: BatchId;
  readonly queue: QueueKey & { readonly id: QueueId };
  readonly account: AccountKey;
  /** The owner that works on it, if that is here. */
  readonly owner?: OwnerInfo;
}

export interface PruneQuery {
  /** Drops what came into its state more than this many milliseconds ago, if it is not in a batch. */
  readonly olderThan?: number;
  /** Then drops the oldest final answers until the store has at most this many bytes. */
  readonly maxBytes?: number;
  /** All room that is free goes back to the disk. Otherwise some is kept for new rows. */
  readonly shrinks?: boolean;
  /** Only says what would be dropped. */
  readonly dryRun?: boolean;
}

export interface PruneReport {
  readonly requests: number;
  readonly batches: number;
  readonly bytes: number;
}
