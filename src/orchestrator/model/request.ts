import type { Batcher, Route } from '../../batchers/batcher.ts';
import type { Settings } from '../../batchers/provider-info.ts';
import type { RequestId } from '../../ledger/ledger.ts';
import type { StreamDialect } from '../../streams/stream-dialect.ts';
import type { Answer, Dict, ItemId } from '../../types.ts';
import { itemId } from '../capture/fingerprint.ts';
import type { Target } from '../capture/router.ts';
import type { Queue } from '../queue/queue.ts';
import type { ActiveBatch } from './batch.ts';
import type { AnswerSource, Emit, FlushReason } from './events.ts';
import type { Notify } from './notices.ts';
import { RequestMarks } from './request-marks.ts';

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
  /** What the option `providers` holds for this one. */
  settings(provider: string): Settings;
  /** Fewer requests than this at flush time go out as realtime calls. */
  readonly minBatch: number;
  /** What to batch; `undefined`: everything. */
  readonly only: OnlyPredicate | undefined;
  readonly cleanup: boolean;
  readonly name: string | undefined;
  readonly tags: Dict;
  /** The scope waits for its last answers: its calls no longer wait in a queue for company. */
  readonly flushing: boolean;
  /** An error has ended the scope: nothing of it is sent any more. */
  readonly ended: boolean;
  readonly emit: Emit;
  readonly notify: Notify;
  /** Looks at small rounds of calls; `undefined` when there is nobody to be told, or nothing more to find. */
  readonly rounds: RoundWatch | undefined;
}

/** Finds programs that hold calls back, by what they ask after they were answered. */
export interface RoundWatch {
  flushed(requests: readonly Pick<PendingRequest, 'body'>[], reason: FlushReason): void;
  answered(answer: Answer): void;
}

/** A call as the hooks hand it over: everything read, nothing parsed. */
export interface CapturedCall {
  readonly scope: EngineScope;
  readonly target: Target;
  readonly headers: Dict;
  readonly body: string;
  /** The answer, or the word that this call is to go out as an ordinary one. */
  settle(verdict: Verdict): void;
  fail(reason: unknown): void;
  /** As if its user had aborted it. */
  abort(reason: unknown): void;
  /** The same, but its caller hears nothing any more. */
  drop(): void;
  /** Headers and body are with the engine now: the call may forget them. */
  taken(): void;
  /** Set by the engine, so that an abort finds the request. */
  pending: PendingRequest | undefined;
  aborted: boolean;
  /** It has its verdict, or was rejected. */
  readonly settled: boolean;
  /** Its client has lost patience and may come back, or its place was given to whoever asks next. */
  abandoned: boolean;
}

export type Verdict =
  | Delivery
  /** Cannot be batched: goes out at full price, and the user should know. */
  | { readonly bypass: string }
  /** Was ours, in this queue; we send it as an ordinary call, counted and not too many at once. */
  | { readonly realtime: Queue }
  /** Not chosen: an ordinary call. */
  | { readonly passThrough: true };

export interface Delivery {
  readonly answer: Answer;
  readonly source: AnswerSource;
  readonly batchToken?: string | undefined;
  readonly itemId: ItemId;
}

/**
 * One request of this process whose caller waits. A hundred thousand of them may: what their queue
 * knows is kept there, and what can be derived is.
 */
export class PendingRequest extends RequestMarks {
  readonly call: CapturedCall;
  readonly queue: Queue;
  /** The fingerprint, a character per byte. */
  readonly key: string;
  readonly stream: StreamDialect | undefined;
  /** When its time is up, if there is such a moment. */
  readonly dueAt: number | undefined;
  /** `undefined` while it is spooled in the ledger. */
  body: string | undefined;
  occurrence = 0;
  request: RequestId = 0;
  /** Size of the encoded item. */
  bytes = 0;
  /** Estimated, of its input. */
  tokens = 0;
  attempt = 0;
  batch: ActiveBatch | undefined = undefined;
  /** Another caller of the same request, who gets the same answer; and so on. */
  also: PendingRequest | undefined = undefined;
  private madeId: ItemId | undefined = undefined;

  constructor(call: CapturedCall, queue: Queue, route: Route, key: string, now: number) {
    super();
    this.call = call;
    this.queue = queue;
    this.key = key;
    this.stream = route.stream;
    this.body = route.body;
    const { deadline } = call.scope;
    this.dueAt = deadline instanceof Date ? deadline.getTime() : deadline && now + deadline;
  }

  get scope(): EngineScope {
    return this.call.scope;
  }

  get batcher(): Batcher {
    return this.queue.batcher;
  }

  /** Itself and the other callers of its request. */
  callers(): PendingRequest[] {
    const callers: PendingRequest[] = [];
    for (let one: PendingRequest | undefined = this; one; one = one.also) callers.push(one);
    return callers;
  }

  /** Those of them who wait. */
  waiters(): PendingRequest[] {
    return this.callers().filter(({ settled }) => !settled);
  }

  get fingerprint(): Buffer {
    return Buffer.from(this.key, 'latin1');
  }

  /** Not before its occurrence is known. Made for its batch, and needed once more for its line. */
  get id(): ItemId {
    this.madeId ??= itemId(this.fingerprint, this.occurrence);
    return this.madeId;
  }
}

/** Makes the first of several callers of one request stand for all of them. */
export function standingFor(waiters: readonly PendingRequest[]): PendingRequest | undefined {
  for (const [index, waiter] of waiters.entries()) {
    waiter.also = waiters[index + 1];
    waiter.batch = undefined;
    waiter.owns = index === 0;
  }
  return waiters[0];
}
