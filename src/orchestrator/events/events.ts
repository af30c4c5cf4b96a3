import { channel } from 'node:diagnostics_channel';
import type { Counts } from '../../base/types.ts';
import type { Batcher, Route } from '../../batchers/batcher.ts';
import type { SlowKind, Slowness } from '../model/batch-times.ts';
import type { Lane, OrdinaryLane } from '../model/call.ts';
import type { TroubleKind } from './trouble-kind.ts';

export interface CallFacts {
  readonly provider: string;
  readonly endpoint: string;
  readonly model: string;
  /** The option `lane` of its scope, where that is not `batch`: of `call:captured` and `call:answered`. */
  readonly lane?: OrdinaryLane;
}

export interface BatchFacts extends CallFacts {
  /** The batch's local token. */
  readonly batch: string;
  readonly remoteId?: string;
  /** Requests of the whole batch, whichever scope they are of. */
  readonly count: number;
}

/** Where a batch comes from. */
export interface BatchHistory {
  /** Milliseconds since the provider accepted it. */
  readonly age?: number;
  /** The traces that its requests were asked in, as W3C `traceparent`; only with `batchling/otel`. */
  readonly traces?: readonly string[];
}

/** Payloads of the events, the same on a scope and on `diagnostics_channel`. Never a credential. */
export interface BatchlingEvents {
  'call:captured': CallFacts;
  'call:answered': CallFacts & {
    readonly status: number;
    readonly source: AnswerSource;
    readonly batch?: string;
    /** The code or type in the body of an error, where it has one. */
    readonly error?: string;
    /** Tokens and dollars: of answers from a batch, and of realtime calls by `fetch` that are no stream. */
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    /** The parts of the input that came out of the provider's prompt cache, and that went in, where there are any. */
    readonly cacheReadTokens?: number;
    readonly cacheWriteTokens?: number;
    /** At list prices; missing where no price is known. */
    readonly dollars?: { readonly paid: number; readonly saved: number };
  };
  'call:bypassed': {
    readonly url: string;
    readonly reason: string;
    /** `false`: it was held back, and its caller got an error. */
    readonly sent: boolean;
  };
  'queue:flushed': CallFacts & { readonly count: number; readonly reason: FlushReason };
  'batch:submitting': BatchFacts & { readonly bytes: number };
  /** Each try has one, when the ledger knows what became of it. Requests that travel in the create have no upload. */
  'batch:step': BatchFacts &
    Pick<BatchHistory, 'traces'> & {
      readonly step: 'upload' | 'create';
      /** Milliseconds that it took, without any waiting before it, and since it was over. */
      readonly took: number;
      readonly ago: number;
      /** The code of what went wrong, if it did. */
      readonly failure?: string;
    };
  'batch:submitted': BatchFacts;
  'batch:polled': BatchFacts & { readonly status: string; readonly counts?: Counts };
  'batch:slow': BatchFacts &
    Slowness & {
      /** What it was called before, if it was slow already. */
      readonly previous?: SlowKind;
    };
  'batch:ended': BatchFacts &
    BatchHistory & {
      readonly status: string;
      /** Refused as a whole, with this code: nothing of it is collected. */
      readonly failure?: string;
    };
  'batch:collected': BatchFacts &
    BatchHistory & {
      /** Tokens and dollars of its answers, as far as this process has read them. */
      readonly inputTokens?: number;
      readonly outputTokens?: number;
      readonly dollars?: { readonly paid: number; readonly saved: number };
      /** Requests with an answer below status 400. */
      readonly answered: number;
      /** Requests with a final error. What neither counts is tried again, late, or not waited for. */
      readonly failed: number;
    };
  'batch:resent': BatchFacts & {
    readonly reason: string;
    /** The provider no longer knows it; its requests go into another one. */
    readonly gone?: true;
  };
  'request:retried': CallFacts & { readonly attempt: number; readonly reason: string };
}

export type BatchlingEventName = keyof BatchlingEvents;

/** Batches that wait for room: those of one model wait for its quota, those of all models for a slot. */
export interface WaitFacts {
  readonly provider: string;
  readonly model?: string;
}

/** Something that people should know beside the events, in one line. It never holds a credential. */
export type Notice =
  /** Something is in the way, and `text` says what is done about it. */
  | {
      readonly notice: 'trouble';
      readonly id: string;
      readonly text: string;
      /** What is wrong, if the trouble is at the provider. */
      readonly kind?: TroubleKind['kind'];
      /** Set if the trouble is that batches wait for room. */
      readonly waits?: WaitFacts;
    }
  /** It is out of the way. Without a text there is nothing to say about it. */
  | { readonly notice: 'over'; readonly id: string; readonly text?: string }
  /** A batch of an earlier run is waited for; `age`: milliseconds since it was sent. */
  | (BatchFacts & { readonly notice: 'rejoined'; readonly age: number })
  /** The callers of a batch have been told that it cannot be brought to an end. */
  | (BatchFacts & { readonly notice: 'gave-up' })
  /**
   * Requests that another process has sent: its answers are waited for. `lease`: it may have ended, and so many
   * milliseconds after that its batches are taken over.
   */
  | { readonly notice: 'elsewhere'; readonly count: number; readonly lease?: number }
  /** The ledger cannot be used, and the program goes on without one. */
  | { readonly notice: 'no-ledger' }
  | { readonly notice: 'hint'; readonly text: string };

/** Everything that a scope hears. Notices are for its display: no listener and no channel hears them. */
export interface EmittedEvents extends BatchlingEvents {
  notice: Notice;
}

export type EmittedName = keyof EmittedEvents;
export type AnswerSource = 'batch' | 'ledger' | 'realtime' | 'flex';
export type FlushReason = 'size' | 'window' | 'maxWindow' | 'flush';

/** The reason of a request that was on the wire as an ordinary call when an earlier run died. */
export const onTheWire = 'on-the-wire';
/** The reason of a request whose ordinary call was sent and brought no answer. */
export const noAnswer = 'no-answer';

/** How the reason of `batch:resent` begins when a batch only has to wait. */
export const noRoomYet = 'no room yet';

/** An event that concerns several scopes is one object, so that a display of all of them shows it once. */
export type Emit = <Name extends EmittedName>(name: Name, payload: EmittedEvents[Name]) => void;

/** What every event says of a call that goes this way. */
export function factsOf(
  { info }: Pick<Batcher, 'info'>,
  { endpoint, model }: Pick<Route, 'endpoint' | 'model'>,
): CallFacts {
  return { provider: info.name, endpoint, model };
}

/** The facts of a call whose scope has this lane. Nearly all are batched, and need no copy. */
export function inLane(facts: CallFacts, lane: Lane): CallFacts {
  return lane === 'batch' ? facts : { ...facts, lane };
}

/** Looked up once: `channel()` costs a map access per event otherwise. */
const channels = new Map<EmittedName, ReturnType<typeof channel>>();

/** Tells everyone who subscribed to `batchling:<name>`, once per event. */
export const publish: Emit = (name, payload) => {
  if (name === 'notice') return;
  let target = channels.get(name);
  if (target === undefined) {
    target = channel(`batchling:${name}`);
    channels.set(name, target);
  }
  if (target.hasSubscribers) target.publish(payload);
};

/** Tells a scope, and everyone else who listens. */
export function tell<Name extends BatchlingEventName>(
  emit: Emit,
  name: Name,
  payload: EmittedEvents[Name],
): void {
  publish(name, payload);
  emit(name, payload);
}
