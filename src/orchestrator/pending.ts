import type { Batcher, Route } from '../batchers/batcher.ts';
import type { RequestId } from '../ledger/ledger.ts';
import type { Answer, Dict, ItemId } from '../types.ts';
import type { ActiveBatch } from './active-batch.ts';
import type { AnswerSource, Emit } from './events.ts';
import type { Queue } from './queue.ts';
import type { Returning } from './returning.ts';
import type { Target } from './router.ts';
import type { Spool } from './spool.ts';

/** How a scope wants its calls batched. Calls of different policies never share a queue. */
export interface Policy {
  readonly window: number;
  readonly maxWindow: number;
  readonly batchSize: number | undefined;
  /** Milliseconds. */
  readonly completionWindow: number;
  readonly attempts: number;
}

/** Chooses the calls to batch, by what is known before they are sent. */
export type OnlyPredicate = (call: {
  readonly provider: string;
  readonly endpoint: string;
  readonly model: string;
  /** Without its query. */
  readonly url: string;
}) => boolean;

/** What the engine knows of a scope. */
export interface EngineScope {
  readonly policy: Policy;
  /** The policy as text: part of the queue key. */
  readonly policyKey: string;
  readonly poll: { readonly minimum: number; readonly maximum: number };
  readonly maxInFlight: number | undefined;
  readonly cache: boolean;
  /** From the capture of each request, or one moment for all. */
  readonly deadline: number | Date | undefined;
  readonly onDeadline: 'error' | 'realtime';
  /** Fewer requests than this at flush time go out as realtime calls. */
  readonly minBatch: number;
  /** What to batch; `undefined`: everything. */
  readonly only: OnlyPredicate | undefined;
  readonly cleanup: boolean;
  readonly name: string | undefined;
  readonly tags: Dict;
  /** The scope waits for its last answers: its calls no longer wait in a queue for company. */
  readonly flushing: boolean;
  readonly emit: Emit;
}

/** A call as the hooks hand it over: everything read, nothing parsed. */
export interface CapturedCall {
  readonly scope: EngineScope;
  readonly target: Target;
  /** With its question mark, or empty. */
  readonly query: string;
  readonly headers: Dict;
  readonly body: string;
  /** The answer, or the word that this call is to go out as an ordinary one. */
  settle(verdict: Verdict): void;
  fail(reason: unknown): void;
  /** Headers and body are with the engine now: the call may forget them. */
  taken(): void;
  /** Set by the engine, so that an abort finds the request. */
  pending: PendingRequest | undefined;
  aborted: boolean;
  /** Its client has lost patience and may come back. */
  readonly abandoned: boolean;
}

export type Verdict =
  | Delivery
  /** Cannot be batched: goes out at full price, and the user should know. */
  | { readonly bypass: string }
  /** Was ours; we send it as an ordinary call, counted and not too many at once. */
  | { readonly realtime: true }
  /** Not chosen: an ordinary call. */
  | { readonly passThrough: true };

export interface Delivery {
  readonly answer: Answer;
  readonly source: AnswerSource;
  readonly batchToken?: string;
  readonly itemId: ItemId;
}

/** One request of this process whose caller waits. */
export interface PendingRequest {
  readonly call: CapturedCall;
  readonly scope: EngineScope;
  readonly batcher: Batcher;
  readonly route: Omit<Route, 'body'>;
  readonly queue: Queue;
  /** `undefined` while it is spooled in the ledger. */
  body: string | undefined;
  /** Who counts the body, while it is in memory. */
  spool: Spool | undefined;
  /** Who knows the clients that come back. */
  readonly returning: Returning;
  readonly idempotencyKey: string | undefined;
  id: ItemId;
  readonly fingerprint: Buffer;
  occurrence: number;
  request: RequestId;
  /** Size of the encoded item. */
  bytes: number;
  attempt: number;
  batch: ActiveBatch | undefined;
  settled: boolean;
  /** It has been in its queue. */
  queued: boolean;
  /** When its time is up, if there is such a moment. */
  readonly dueAt: number | undefined;
  /** Its time is up. */
  due: boolean;
  /** Another caller of the same request, who gets the same answer. */
  also: PendingRequest | undefined;
}
