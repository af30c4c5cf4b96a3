import type { Dispatcher } from 'undici';
import type { Clock, Dict, Logger } from '../base/types.ts';
import type { BatcherClass } from '../batchers/registry.ts';
import type { OnlyPredicate } from '../orchestrator/model/call.ts';
import type { OnlyText, ProviderName, ProviderSettings } from './provider-names.ts';

type Time = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

/**
 * A number of milliseconds, or text: `"250ms"`, `"2s"`, `"1m 30s"`, `"24h"`, `"30d"`. Text that is not
 * known before the program runs is checked by `batchify`: `text as Duration`.
 *
 * @example
 * const window: Duration = '1.5s';
 */
export type Duration = number | `${number}` | Time | `${Time}${Time}`;
type DurationRange = `${Time | number}..${Time | number}`;

/**
 * The options of `batchify`. All are optional; `undefined` counts as not given. A nested scope inherits
 * every option it does not set, and `null` undoes an inherited one whose default is none. Options that
 * can be written as text are also environment variables: `batchSize` is `BATCHLING_BATCH_SIZE`.
 *
 * Scopes with the same `store` share one engine. Its `clock`, `logger`, `retention`, `maxStoreSize` and
 * `onStoreError` are those of the scope that opens it.
 *
 * @example
 * await batchify(main, { window: '2s', deadline: '6h', onDeadline: 'realtime' });
 */
export interface BatchifyOptions {
  /**
   * Send a batch as soon as it has this many requests, or the provider's limit if that is lower. Default: what
   * the batcher recommends (10,000 for OpenAI and Anthropic).
   */
  readonly batchSize?: number | undefined;
  /** Send a batch after this long without a new call. Default: `"5s"`. */
  readonly window?: Duration | undefined;
  /** Send a batch at the latest this long after its first call. Default: `"60s"`. */
  readonly maxWindow?: Duration | undefined;
  /**
   * How often to ask a provider about a batch: one duration, or a range within which the interval
   * adapts. A provider's own minimum wins. Default: `"10s..60s"`.
   */
  readonly poll?: Duration | DurationRange | undefined;
  /**
   * The time in which the provider is asked to finish a batch. Calls to a provider that does not offer
   * it are answered with an error. Default: `"24h"`.
   */
  readonly completionWindow?: Duration | undefined;
  /** How many batches an account has under way at once. Default: per batcher. */
  readonly maxInFlight?: number | undefined;
  /** Fewer requests than this go out as ordinary calls, see `onSmallBatch`. Default: 1. */
  readonly minBatch?: number | undefined;
  /**
   * The first request of each kind (model, fields of the body, schema, tools) goes out alone, and the others of its
   * kind wait for its outcome: `"call"` (or `true`) as an ordinary call at full price, `"batch"` as a batch of
   * one. If it is refused with a 4xx, nothing more of that kind is sent, and its calls get the same answer.
   * Default: `false`.
   */
  readonly canary?: boolean | 'call' | 'batch' | undefined;
  /**
   * Of requests that share a prompt up to their last `cache_control`, one goes as a batch of its own and the
   * others when it has ended, so that they read the provider's cache instead of writing it each. It is done
   * only where it saves more than ten cents, at Anthropic, and never in a scope with a deadline. Default: `false`.
   */
  readonly primeCache?: boolean | undefined;
  /**
   * How fewer requests than `minBatch` go out: `"realtime"`, at full price, or `"flex"`, in the provider's half-price
   * tier. Default: `"realtime"`.
   */
  readonly onSmallBatch?: 'realtime' | 'flex' | undefined;
  /**
   * The way that calls take to their provider: `"batch"`; `"flex"`: one by one, in the provider's half-price tier,
   * which may have to wait for room; `"realtime"`: one by one, at full price. Default: `"batch"`.
   */
  readonly lane?: 'batch' | 'flex' | 'realtime' | undefined;
  /**
   * Tries per request for outcomes worth a retry (429, 5xx, never ran). An expired request is tried
   * once more. Default: 3.
   */
  readonly attempts?: number | undefined;
  /**
   * When to stop waiting and cancel: a duration from the capture of each request, or one moment for
   * all (`Date`). Default: none.
   */
  readonly deadline?: Duration | Date | null | undefined;
  /**
   * What happens at the deadline: `"error"` (status 504), or `"realtime"`: use the answers that are
   * finished and send the other requests as ordinary calls. `"flex"` sends them in the provider's half-price tier
   * if that has room, otherwise at full price. Default: `"error"`.
   */
  readonly onDeadline?: 'error' | 'realtime' | 'flex' | undefined;
  /**
   * What happens to a batch that takes three times as long as batches of its model and size used to, and at least an
   * hour: `"wait"`, or cancel it, use the answers that are finished, and send the other requests one by one, in the
   * provider's half-price tier (`"flex"`) or at full price (`"realtime"`). Default: `"wait"`.
   */
  readonly onSlow?: 'wait' | 'flex' | 'realtime' | undefined;
  /** How many ordinary calls batchling itself has under way at once. Default: 8. */
  readonly realtimeConcurrency?: number | undefined;
  /**
   * Dollars for the whole run, all its processes together. A batch that may cost more than what is left
   * is not sent: its calls get status 402. Prices are list prices, and sizes are estimated. Default: none.
   */
  readonly budget?: number | null | undefined;
  /**
   * `true`: calls are captured, grouped and priced, and nothing is sent. `batchify(fn)` is rejected with
   * `DryRunExit` when no call has come for `window`; in other scopes calls get status 400. `"deep"`: calls
   * are answered with placeholders, so that the program goes on. Default: `false`.
   */
  readonly dryRun?: boolean | 'deep' | undefined;
  /**
   * `false`: answers of earlier, finished runs are not used. A run that was killed is still continued,
   * and the ledger is written all the same. Default: `true`.
   */
  readonly cache?: boolean | undefined;
  /**
   * Where the ledger is: a path or `":memory:"`. Default: `batchling/ledger.db` in the user's cache
   * folder.
   */
  readonly store?: string | undefined;
  /** How long the ledger keeps answers; older ones are deleted when it is opened. Default: `"30d"`. */
  readonly retention?: Duration | undefined;
  /**
   * The size to which the ledger is cut when it is opened: bytes, or `"500MB"`, `"2GB"` (decimal).
   * It may grow beyond that during a run. Default: none.
   */
  readonly maxStoreSize?: number | string | null | undefined;
  /** What the ledger keeps: `"answers"`, `"all"` (bodies too), `"none"`. Default: `"answers"`. */
  readonly keep?: 'answers' | 'all' | 'none' | undefined;
  /**
   * What happens when the ledger cannot be opened: `"error"`, or `"continue"` without one. A call that
   * an open ledger cannot store (a full disk) is answered with an error and not sent. Default: `"error"`.
   */
  readonly onStoreError?: 'error' | 'continue' | undefined;
  /** Delete batchling's input files at the provider once the answers are stored. Default: `true`. */
  readonly cleanup?: boolean | undefined;
  /**
   * Further base URLs, as given to the SDK, and the provider whose API they speak:
   * `{ "http://127.0.0.1:8000/v1": "openai" }`. Scheme and `/v1` can be left out; a key without a path
   * stands for the provider's own host with its usual paths. Default: `{}`.
   */
  readonly hosts?: Readonly<Record<string, ProviderName>> | undefined;
  /**
   * What to batch: a predicate, or `"openai,anthropic:claude-*"`. A call whose predicate throws is
   * answered with status 400 and not sent. Calls that it leaves out go out at full price, unless `bypass` is
   * `"error"`. Default: everything.
   */
  readonly only?: OnlyPredicate | OnlyText | undefined;
  /**
   * What happens when an LLM call is not batched: it goes out at full price, with a warning once
   * per reason (`"warn"`) or without (`"ignore"`); or it gets status 400 (`"error"`). Default: `"warn"`.
   */
  readonly bypass?: 'warn' | 'error' | 'ignore' | undefined;
  /**
   * Settings no captured request carries, by provider name: what its batcher declares, and for every
   * provider `credential`, a function that is asked for a token before each request to it, and
   * `cancelAtDeadline`. Default: `{}`.
   */
  readonly providers?: ProviderSettings | undefined;
  /** Your own `Batcher` classes, asked before the built-in ones. Default: `[]`. */
  readonly batchers?: readonly BatcherClass[] | undefined;
  /**
   * A URL that gets signed messages (Standard Webhooks) when a batch is collected, has failed or is slow, and when the
   * run is over. They wait in the ledger until they are delivered. The secret is in the variable
   * `BATCHLING_WEBHOOK_SECRET`. Default: none.
   */
  readonly webhook?: string | null | undefined;
  /**
   * Its abort ends the scope: waiting callers are rejected, unsent calls are not sent, batches under
   * way stay in the ledger. Default: none.
   */
  readonly signal?: AbortSignal | null | undefined;
  /** Stored with the batches of the scope, and sent as metadata where a provider has any. Default: none. */
  readonly name?: string | null | undefined;
  /** Like `name`: up to 12 keys with short texts. Default: none. */
  readonly tags?: Dict | null | undefined;
  /**
   * How progress is shown on stderr: `"live"`, `"plain"`, `"json"`, `"none"`. Default: live in a
   * terminal, plain elsewhere.
   */
  readonly display?: 'live' | 'plain' | 'json' | 'none' | undefined;
  /** Where batchling writes its log lines. Default: nowhere. */
  readonly logger?: Logger | undefined;
  /** The undici dispatcher for batchling's own requests. Default: the environment's proxies. */
  readonly dispatcher?: Dispatcher | undefined;
  /** The source of time, for tests. Default: the real one. */
  readonly clock?: Clock | undefined;
  /** `false`: no global is touched, only `scope.fetch` captures. Default: `true`. */
  readonly hooks?: boolean | undefined;
}

export type OptionName = keyof BatchifyOptions;
