import type { JsonObject } from '../base/json.ts';
import type { Answer, Dict } from '../base/types.ts';
import type { StreamDialect } from '../streams/stream-dialect.ts';
import type { Settings } from './provider-info.ts';

/** A captured call as a batcher sees it: without its credentials. */
export interface Call {
  /** The query with its question mark, or an empty text. */
  readonly query: string;
  /** The path below the provider's root, `/chat/completions`. */
  readonly path: string;
  /** Lower-case names; credential headers are already taken out. */
  readonly headers: Dict;
  /** The body as the client wrote it. */
  readonly body: string;
  /** The same, parsed once. */
  readonly json: JsonObject;
  /** What the user's option `providers` says for this provider. */
  readonly settings: Settings;
  /** The lane that its scope asks for. What only batches need is not asked of the others. */
  readonly lane?: 'batch' | 'flex' | 'realtime';
  /** It goes to a server that the user has named (`hosts`), which may turn out to have no batch API. */
  readonly isConfigured?: boolean;
}

/** How a call travels in a batch. Pure data: queue key and fingerprint material. */
export interface Route {
  /** The provider's name of the endpoint, as it stands in a batch: `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly model: string;
  /** Fixed for a whole batch and sent with its create call; part of the queue key. */
  readonly batchHeaders: Dict;
  /** Headers and query of this call that can change its answer. */
  readonly identity: readonly string[];
  /** Anything else that must not share a batch. */
  readonly partition?: string;
  /** In the lanes of ordinary calls: what to configure, for people, if it has to be batched after all. */
  readonly lacks?: string;
  /** The body as it stands in the batch line: one line, without `stream`. */
  readonly body: string;
  /** How many of `Limits.units` this request takes, if not one. Not part of the fingerprint. */
  readonly units?: number;
  /** Tells a 2xx answer as the stream the caller asked for. Not part of the fingerprint. */
  readonly stream?: StreamDialect;
}

/** What limits, prices and placeholders go by. */
export type RouteKey = Pick<Route, 'endpoint' | 'model'>;

/** A call that cannot be batched. */
export interface Bypass {
  /** Why this LLM call cannot be batched, for people: "background responses are …". */
  readonly bypass: string;
}

/**
 * A call that can be batched once the user has said something about it. It is answered with an error:
 * nobody has said that it may go out at full price.
 */
export interface Unconfigured {
  /** What to configure, for people: "set providers: { azure: { deployments: …". */
  readonly unconfigured: string;
  readonly endpoint: string;
  readonly model: string;
}

/** A call that needs several requests: embeddings of many inputs at a provider that takes one in a line. */
export interface FanOut {
  readonly parts: readonly Route[];
  /** Makes the caller's answer of the parts' answers, which come in the order of the parts. */
  join(answers: readonly Answer[]): Answer;
}

/**
 * What a batcher makes of a call.
 *
 * @example
 * match({ json, body }: Call): Match {
 *   if (typeof json.model !== 'string') return { bypass: 'the body names no model' };
 *   return { endpoint: '/v1/chat', model: json.model, batchHeaders: {}, identity: [], body };
 * }
 */
export type Match = Route | FanOut | Bypass | Unconfigured;
