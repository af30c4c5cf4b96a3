import type { Answer, Dict, ItemId } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import type { Settings } from '../../batchers/provider-info.ts';
import type { Cost, RequestId } from '../../ledger/ledger.ts';
import type { ModelPrice } from '../../pricing/model-price.ts';
import type { AnswerSource, CallFacts, Emit } from '../events/events.ts';
import type { Sampling } from './sampling.ts';

/**
 * The way a request takes to its provider: in a batch, as an ordinary call in the provider's cheap and slow tier, or
 * as an ordinary call at full price.
 */
export type Lane = 'batch' | OrdinaryLane;

/** The lanes of ordinary calls. */
export type OrdinaryLane = 'flex' | 'realtime';

/** How a scope wants its calls batched. Calls of different policies never share a queue. */
export interface Policy {
  readonly lane: Lane;
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
  /** The URL without its query. */
  readonly url: string;
}) => boolean;

/** The option `only`. Where it was given as text, it knows more about itself. */
export type Only = OnlyPredicate & {
  readonly text?: string;
  /** Names the patterns that have chosen no call although calls were left out; `undefined`: there are none. */
  complaint?(): string | undefined;
};

/** A canary is an ordinary call, or a batch of one. */
export type CanaryMode = 'call' | 'batch';

/** What the engine knows of a scope. */
export interface EngineScope {
  readonly policy: Policy;
  /** The policy as text: part of the queue key. */
  readonly policyKey: string;
  readonly poll: { readonly minimum: number; readonly maximum: number };
  readonly maxInFlight: number | undefined;
  readonly cache: boolean;
  /** Milliseconds from the capture of each request, or one moment for all. */
  readonly deadline: number | Date | undefined;
  readonly onDeadline: 'error' | OrdinaryLane;
  /** What becomes of a batch that takes far longer than usual: it is waited for, or what is left takes this lane. */
  readonly onSlow: 'wait' | OrdinaryLane;
  /** What the option `providers` holds for this one. */
  settings(provider: string): Settings;
  /** Calls to a server that has no batch API may go out: the option `bypass` is not `"error"`. */
  readonly mayGoUnbatched: boolean;
  /** Ordinary calls that we have under way at once, per account. */
  readonly realtimeConcurrency: number;
  /** Its calls may have to go out as ordinary ones: what only these need is kept. */
  readonly mayCall: boolean;
  /** Fewer requests than this at flush time go out as ordinary calls, in this lane. */
  readonly minBatch: number;
  readonly onSmallBatch: OrdinaryLane;
  /** How the first request of each kind is tried before the others are sent. */
  readonly canary: CanaryMode | false;
  /** One request of those that share a cached prompt goes ahead of the others. */
  readonly primeCache: boolean;
  /** What to batch; `undefined`: everything. */
  readonly only: Only | undefined;
  /** Dollars that the whole run may cost. */
  readonly budget: number | undefined;
  readonly cleanup: boolean;
  /** The receiver of webhooks about its batches. */
  readonly webhook: string | undefined;
  readonly name: string | undefined;
  readonly tags: Dict;
  /** The scope waits for its last answers: its calls no longer wait in a queue for company. */
  readonly flushing: boolean;
  /** An error has ended the scope, or the process leaves: nothing of it is sent any more. */
  readonly ended: boolean;
  readonly emit: Emit;
}

/** Where a call belongs; see `capture/router.ts`. */
export interface CallTarget {
  readonly url: string;
  /** The query with its question mark, or an empty text. */
  readonly query: string;
  readonly base: string;
  readonly wireBase: string;
  readonly path: string;
  readonly configured: boolean;
  /** Credentials that stood in the query. */
  readonly credentials: Dict;
  readonly provider: string;
  readonly isLoaded: boolean;
  load(): Promise<Batcher>;
  readonly batcher: Batcher;
}

/** A call as a scope hands it over: everything read, nothing parsed. */
export interface CapturedCall {
  readonly scope: EngineScope;
  readonly target: CallTarget;
  readonly headers: Dict;
  readonly body: string;
  readonly aborted: boolean;
  /** It has its verdict, or was rejected. */
  readonly settled: boolean;
  /** The client has lost patience and may come back. */
  readonly abandoned: boolean;
  /** Its client can be answered with a body that is still to come. */
  readonly takesBytes?: boolean;
  /** What a gateway says about it. */
  readonly sampling?: Sampling | undefined;
  /** The answer, or the word that this call is to go out as an ordinary one. */
  settle(verdict: Verdict): void;
  fail(reason: unknown): void;
  /** Ends the call as if its user had aborted it, but its caller hears nothing any more. */
  drop(): void;
  /** Headers and body are with the engine now: the call may forget them, unless it may be sent away again. */
  taken(): void;
}

/** A captured call as the engine hands it back to its scope. */
export interface CallHandle {
  /**
   * The user aborted it. What is not planned yet is never sent, the rest stays in its batch. A batch that is
   * not created yet and that nobody else waits for is not created.
   */
  abort(): void;
  /** The client gave up and may come back: the request stays, and the client's retry re-joins it. */
  abandon(): void;
  /** The client that gave up has read its answer after all: it will not come back. */
  read(): void;
  /** An error has ended the scope: the next call that asks the same gets this answer. */
  leaveBehind(): void;
  /** It is in a batch, or on its way into one. */
  readonly isSent: boolean;
  /** Another owner sends it, or has sent it. */
  readonly isElsewhere: boolean;
  /** Nothing is left to do for it here but to wait: for the provider, or for another owner. */
  readonly isSubmitted: boolean;
  /** Nobody knows yet whether the provider has taken its batch. */
  readonly isUnclear: boolean;
  /** The token of its batch, if the provider has that. */
  readonly batchToken: string | undefined;
  /** The row of its request, once it is admitted; `undefined` for a call of several requests. */
  readonly row: RequestId | undefined;
}

export type Verdict =
  | Delivery
  /** Cannot be batched: goes out at full price, and the user should know. */
  | { readonly bypass: string }
  /** Was ours; we send it as an ordinary call, counted and not too many at once. */
  | { readonly realtime: RealtimeRoute }
  /** `only` does not choose it (`openai:gpt-5-mini`): an ordinary call, counted. */
  | { readonly leftOut: string };

export interface Delivery {
  readonly answer: Answer;
  readonly source: AnswerSource;
  readonly batchToken?: string | undefined;
  readonly itemId: ItemId;
  /** Set if the body is still to come: the call goes on until that has ended. */
  readonly live?: LiveBody;
}

/** A body that is passed on to its client as it comes. */
export interface LiveBody {
  /** Resolves when the answer is stored, or will not come. */
  readonly ended: Promise<void>;
  /** Its abort ends the body for the client. It is read to its end all the same: it is paid for. */
  readonly left: AbortController;
}

/** What is known of a call that goes out after it was captured. */
export interface RealtimeRoute {
  readonly facts: CallFacts;
  readonly batcher: Batcher;
  readonly price: ModelPrice;
  /** Its part in the budget of the run, if there is one. */
  readonly spending?: Spending;
  /** It was answered: counts it in the totals of the ledger. */
  addCost(cost: Cost | undefined): void;
  /** It failed in a way that clients try again: that retry goes out at once, too. */
  mayBeRetried(): void;
}

/** What a realtime call of ours takes from the budget of its run. */
export interface Spending {
  /** Called before the call is sent. A text says that there is no room, and why. */
  reserve(): Promise<string | undefined>;
  /** What it has cost in dollars, once that is known. Until then its estimate counts. */
  paid(actual: number): void;
}
