import { fields, isObject, type JsonObject } from '../base/json.ts';
import type { Answer, Counts, Dict, Handle, ItemId } from '../base/types.ts';
import type { Credentials, OutgoingRequest, Wire } from '../http/wire.ts';
import type { Expectation } from '../pricing/expectation.ts';
import type { CachedInput } from '../pricing/model-price.ts';
import type { Usage } from '../pricing/usage.ts';
import type { BatchFailure } from './batch-failure.ts';
import type { Call, Match, Route, RouteKey } from './call-match.ts';
import type { FlexTier } from './flex-tier.ts';
import type { ProviderInfo, Settings } from './provider-info.ts';
import type { ProviderNotes } from './provider-notes.ts';
import type { Outcome, Row } from './result-row.ts';
import { expectationOf } from './shared/expectation-of.ts';
import { judgeByStatus, type ReplyJudge } from './shared/judge-reply.ts';
import { outcomeOf } from './shared/outcomes.ts';

export type { Expectation } from '../pricing/expectation.ts';
export type { CachedInput } from '../pricing/model-price.ts';
export type { Usage } from '../pricing/usage.ts';
export type { BadLine, BatchFailure, ReplyMeaning } from './batch-failure.ts';
export type { Bypass, Call, FanOut, Match, Route, RouteKey, Unconfigured } from './call-match.ts';
export type { FlexTier } from './flex-tier.ts';
export type { ProviderInfo } from './provider-info.ts';
export type { Outcome, RetryReason, Row } from './result-row.ts';

/** What stands around a body in its line. ASCII only, so that its length is its byte length. */
export interface Envelope {
  readonly before: string;
  readonly after: string;
}

/** One line of a batch, ready to be written: `before + body + after`. */
export interface Item extends Envelope {
  readonly id: ItemId;
  readonly body: string;
}

/**
 * What a provider allows for batches of one route.
 *
 * @example
 * const limits: Limits = {
 *   items: 50_000,
 *   recommendedItems: 10_000,
 *   bytes: 190_000_000,
 *   itemBytes: 190_000_000,
 *   inFlight: 64,
 *   windows: { '24h': { word: '24h', priceShare: 0.5 } },
 *   pollMinimum: 0,
 *   outlives: 28 * 3_600_000,
 * };
 */
export interface Limits {
  /** Most requests in one batch. */
  readonly items: number;
  /** Fewest requests in one batch; fewer go out as ordinary calls. Missing: one. */
  readonly leastItems?: number;
  /** Flush a queue at this many unless the user says otherwise. */
  readonly recommendedItems: number;
  /** Most units in one batch, where the provider counts something inside of requests: texts to embed. */
  readonly units?: number;
  /** Most bytes of the encoded batch. */
  readonly bytes: number;
  /** Most bytes of one encoded item. */
  readonly itemBytes: number;
  /** Most estimated input tokens under way at once per model, where the provider publishes it. */
  readonly tokens?: number;
  /** Batches under way at once per account. */
  readonly inFlight: number;
  /** Completion windows the provider offers, by their duration: `24h`. */
  readonly windows: Readonly<Record<string, CompletionWindow>>;
  /** What a batch costs of input that the provider had cached. Missing: it is discounted like the rest. */
  readonly cachedInput?: CachedInput;
  /**
   * What a batch has written to the provider's prompt cache is read by later batches, where it has at least this many
   * tokens. Missing: there is no such cache, or nobody knows of one.
   */
  readonly cacheMinimum?: number;
  /** Never poll faster, in milliseconds. */
  readonly pollMinimum: number;
  /** After this many milliseconds a silent batch is an error. */
  readonly outlives: number;
}

/** How long a provider may take, in its own word, and for what price. */
export interface CompletionWindow {
  /** The provider's word for it. */
  readonly word: string;
  /** What a batch with this window costs, as a share of the list price. */
  readonly priceShare: number;
}

/** A batch before it is sent. */
export interface Plan {
  /** Local token: unique, safe in names and metadata. */
  readonly token: string;
  readonly route: Pick<Route, 'endpoint' | 'model' | 'batchHeaders'>;
  readonly count: number;
  /** Sum of the encoded items. */
  readonly bytes: number;
  readonly completionWindow: string;
  /**
   * What the user's option `providers` says for this provider. What later steps need of it belongs in the
   * handle: after a crash another program goes on.
   */
  readonly settings: Settings;
  /** Provider metadata: the run's name and tags. */
  readonly tags: Dict;
  /** The items in groups; can be read again. */
  items(): AsyncIterable<readonly Item[]>;
}

/** A batch as the provider sees it. The state is ours, `raw` is the provider's word. */
export interface Remote {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'finalizing' | 'cancelling' | 'ended' | 'missing';
  readonly raw: string;
  readonly counts?: Counts;
  /** Results, or some of them, can be read now. */
  readonly readable: boolean;
  /** Where the results are: file ids, URLs. */
  readonly sources: Handle;
  /** The whole batch was refused after it had been accepted. */
  readonly failure?: BatchFailure;
  /** It has ended, but results are still to come: what has none yet is waited for. */
  readonly incomplete?: true;
  /** Why requests without a result were not run, where the batch as a whole ended early. */
  readonly unfinished?: 'expired' | 'cancelled';
  /** Why its results can no longer be read, for people: the provider keeps them for some weeks only. */
  readonly lost?: string;
}

/** A batch under way, as far as a poll needs to know it. */
export interface PolledBatch {
  readonly id: string;
  /** Requests in it. */
  readonly count: number;
  readonly handle: Handle;
}

/** What looking for a batch after an unknown outcome brought. */
export type Found =
  /** Proved by something only our create carries. More than one: twins. */
  | { readonly kind: 'exact'; readonly remotes: readonly Remote[] }
  /** Could be ours; only the ids in the results prove it. */
  | { readonly kind: 'candidates'; readonly remotes: readonly Remote[] }
  | { readonly kind: 'absent' };

/** A request as an ordinary call. The path is below the base and has its query. */
export interface OrdinaryCall {
  readonly path: string;
  readonly body: string;
  /** What it carries beside the headers of its caller. Missing: those that are fixed for its batch. */
  readonly headers?: Dict;
  /** Whom it is signed for, where that is not the host alone. */
  readonly audience?: string;
}

/**
 * One provider's batch wire. A batcher holds no state: what varies comes in as `Wire` and `Plan`,
 * what must survive a crash is the `Handle`, saved by the engine between `stage` (never bills, can
 * be repeated) and `create` (bills, is never repeated blindly).
 *
 * @example
 * class MineBatcher extends OpenAIBatcher {
 *   override readonly info = { ...openaiInfo, name: 'mine', hosts: ['llm.example.com'] };
 * }
 * batchify(fn, { batchers: [MineBatcher] });
 */
export abstract class Batcher {
  abstract readonly info: ProviderInfo;

  /** Notes for the page of providers. A batcher of the user's own needs none. */
  readonly notes: ProviderNotes | undefined = undefined;

  /** What a reply or a line means that is not a success. A provider's own words are looked at here. */
  protected readonly judge: ReplyJudge = judgeByStatus;

  /** How this call travels in a batch, or why it cannot. */
  abstract match(call: Call): Match;
  /** What the provider allows for batches of this route. */
  abstract limits(route: RouteKey): Limits;
  abstract envelope(route: Pick<Route, 'endpoint'>, id: ItemId): Envelope;

  /** Whether a batch with this handle can be created without its bodies: they are at the provider. */
  canCreateFrom(_handle: Handle): boolean {
    return false;
  }

  /** Bytes the provider's format adds around all items and between them. */
  frameBytes(_count: number): number {
    return 0;
  }

  /** Origins that may see the credential. */
  origins(base: string): readonly string[] {
    return [new URL(base).origin];
  }

  /**
   * What proves who we are, for one request of ours, where requests are signed; `undefined`: what calls carry is sent along.
   * `captured` is what they carry, `given` the user's function `credential`.
   */
  sign?(
    request: OutgoingRequest,
    captured: Credentials,
    given: (() => unknown) | undefined,
  ): Promise<Credentials | undefined>;

  /** Upload or look around; nothing here bills, everything can be repeated. */
  abstract stage(wire: Wire, plan: Plan): Promise<Handle>;
  /** Throws `RefusedError` when the provider says no. */
  abstract create(wire: Wire, plan: Plan, handle: Handle): Promise<Remote>;
  abstract find(wire: Wire, plan: Pick<Plan, 'token' | 'count'>, handle: Handle): Promise<Found>;
  /**
   * Whether this credential sees what another one has staged: keys of one project or workspace share its
   * files and batches. `undefined`: that cannot be told.
   */
  sharesAccount(_wire: Wire, _handle: Handle): Promise<boolean | undefined> {
    return Promise.resolve(undefined);
  }
  /** The state of these batches, by one GET each, a list or a multi-get: its choice. */
  abstract poll(wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote>;
  /** Every result source in any order, in groups, from `cursor` on where the provider can. */
  abstract results(wire: Wire, remote: Remote, cursor?: string): AsyncIterable<readonly Row[]>;
  abstract cancel(wire: Wire, remote: Pick<Remote, 'id'>): Promise<void>;
  /** Delete what we left at the provider, once answers are durable. */
  cleanup(_wire: Wire, _handle: Handle): Promise<void> {
    return Promise.resolve();
  }

  /** What a request says of its own price before it is sent. `json` is the body of its call. */
  expects({ endpoint }: Pick<Route, 'endpoint' | 'body'>, json: JsonObject): Expectation {
    return expectationOf(endpoint, json);
  }

  /**
   * The schema that an answer is to follow, with what names it; `undefined`: the request has none. Several providers have
   * models of others, whose requests are in the shape of those.
   */
  outputSchema(json: JsonObject): unknown {
    const { response_format, text, output_config, output_format, outputConfig } = json;
    const { responseJsonSchema, responseSchema } = fields(json.generationConfig);
    const openai = response_format ?? fields(text).format;
    const claude = fields(output_config).format ?? output_format;
    const found = openai ?? claude ?? responseJsonSchema ?? responseSchema ?? outputConfig;
    // Images and speech have formats, too, which are words.
    return isObject(found) ? found : undefined;
  }

  /**
   * An answer body in the provider's shape that says nothing, for dry runs that go on after the first
   * round. `undefined`: there is none for this request.
   */
  placeholder(_route: RouteKey, _json: JsonObject): Promise<unknown> {
    return Promise.resolve(undefined);
  }

  /**
   * A request outside of a batch: `call` is how its caller asked, `body` stands as in its line. The answer is
   * asked for in one piece, also where the caller wants a stream.
   */
  ordinary(
    { path, query }: Pick<Call, 'path' | 'query' | 'settings'>,
    { body }: Pick<Route, 'model' | 'body'> & Partial<Pick<Route, 'batchHeaders'>>,
  ): OrdinaryCall {
    return { path: `${path}${query}`, body };
  }

  /** What an ordinary call brought: its answer, or an error after which it is worth another try. */
  outcome(answer: Answer): Outcome {
    return outcomeOf(answer, this.judge);
  }

  /** The provider's half-price tier for ordinary calls of this route; `undefined`: it has none. */
  flex(_route: RouteKey): FlexTier | undefined {
    return undefined;
  }

  /** What a parsed answer body says that the answer took. */
  abstract usage(json: unknown): Usage | undefined;
  /** The status of an error of ours with this one, where clients of the provider look at nothing else to ask again. */
  finalStatus(status: number): number {
    return status;
  }
  /** An error body in the provider's own shape. */
  abstract errorBody(type: string, message: string): string;
}
