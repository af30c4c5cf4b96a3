import type { Dispatcher } from 'undici';
import type { BatcherClass } from '../batchers/registry.ts';
import type { HostEntry } from '../orchestrator/capture/router.ts';
import type { OnlyPredicate } from '../orchestrator/model/request.ts';
import type { Clock, Dict, Logger } from '../types.ts';
import type { ProviderSettings } from './providers.ts';
import type { PollRange } from './scalars.ts';

/**
 * A number of milliseconds, or text: `"250ms"`, `"2s"`, `"5m"`, `"24h"`, `"30d"`.
 *
 * @example
 * const window: Duration = '1.5s';
 */
export type Duration = number | string;

/**
 * What `batchify` can be told. Everything is optional, `undefined` counts as not given, and a
 * nested scope inherits what it does not set; `null` undoes what it would inherit where there is
 * none by default. Most options are also environment variables (`BATCHLING_BATCH_SIZE`) and flags
 * of the CLI (`--batch-size`).
 *
 * @example
 * await batchify(main, { window: '2s', deadline: '6h', onDeadline: 'realtime', budget: 5 });
 */
export interface BatchifyOptions {
  /**
   * Flush a queue at this many requests. Default: what the batcher recommends (10,000; Groq
   * 1,000 …). Never above the provider's limit.
   */
  readonly batchSize?: number | undefined;
  /** Flush a queue when no call has joined it for this long. Default: `"5s"`. */
  readonly window?: Duration | undefined;
  /** Flush a queue at the latest this long after the call that opened it. Default: `"60s"`. */
  readonly maxWindow?: Duration | undefined;
  /**
   * How often to ask a provider about a batch: one duration, or a range to adapt in. Provider
   * minima win. Default: `"10s..60s"`.
   */
  readonly poll?: Duration | undefined;
  /**
   * In what time the provider is asked to finish a batch; one that it does not offer is an error.
   * Default: `"24h"`.
   */
  readonly completionWindow?: Duration | undefined;
  /** Batches under way at once per account. Default: per batcher. */
  readonly maxInFlight?: number | undefined;
  /** Fewer requests than this at flush time go out as realtime calls. Default: 1. */
  readonly minBatch?: number | undefined;
  /** Tries per request for outcomes worth a retry (429, 5xx, never ran). Default: 3. */
  readonly attempts?: number | undefined;
  /**
   * When to stop waiting for a batch: a duration per request from its capture, or one moment for
   * all (`Date`). Default: none.
   */
  readonly deadline?: Duration | Date | null | undefined;
  /**
   * What happens at the deadline: `"error"`, or `"realtime"`: take what is finished and send only
   * the rest as ordinary calls. Default: `"error"`.
   */
  readonly onDeadline?: 'error' | 'realtime' | undefined;
  /** How many realtime calls batchling itself has under way at once. Default: 8. */
  readonly realtimeConcurrency?: number | undefined;
  /** Dollars; a batch whose estimate would pass them is not sent. Default: none. */
  readonly budget?: number | null | undefined;
  /** Capture, group and price; send nothing. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /**
   * `false`: answers of earlier, finished runs are not used. A killed or detached run is still
   * continued, and the ledger is always written. Default: `true`.
   */
  readonly cache?: boolean | undefined;
  /**
   * Where the ledger is: a path or `":memory:"`. Default: `batchling/ledger.db` in the user's cache
   * folder.
   */
  readonly store?: string | undefined;
  /** How long the ledger keeps answers. Default: `"30d"`. */
  readonly retention?: Duration | undefined;
  /** How large the ledger may grow: bytes, or `"500MB"`, `"2GB"` (decimal). Default: none. */
  readonly maxStoreSize?: number | string | null | undefined;
  /** What the ledger keeps: `"answers"`, `"all"` (bodies too), `"none"`. Default: `"answers"`. */
  readonly keep?: 'answers' | 'all' | 'none' | undefined;
  /**
   * When the ledger cannot be opened: `"error"`, or `"continue"` without one. A call that an open
   * ledger cannot take in (a full disk) is answered with an error and not sent. Default: `"error"`.
   */
  readonly onStoreError?: 'error' | 'continue' | undefined;
  /** Delete our input files at the provider once the answers are durable. Default: `true`. */
  readonly cleanup?: boolean | undefined;
  /**
   * Further base URLs, as given to the SDK, and the provider whose wire they speak:
   * `{ "http://127.0.0.1:8000/v1": "openai" }`. Scheme and `/v1` can be left out; without a path
   * the key stands for the provider's own host. Default: `{}`.
   */
  readonly hosts?: Readonly<Record<string, string>> | undefined;
  /**
   * What to batch: a predicate, or `"openai,anthropic:claude-*"`. A call whose predicate throws is
   * answered with status 400 and not sent. Default: everything.
   */
  readonly only?: OnlyPredicate | string | undefined;
  /**
   * When an LLM call cannot be batched and goes out at full price: `"warn"` once per reason,
   * `"error"`, `"ignore"`. Default: `"warn"`.
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
   * Aborts the scope: unsent calls are dropped, waiting callers rejected, batches stay. Default:
   * none.
   */
  readonly signal?: AbortSignal | null | undefined;
  /** Shown in `batchling ls`, sent as provider metadata where there is any. Default: none. */
  readonly name?: string | null | undefined;
  /** Like `name`: up to 12 short texts. Default: none. */
  readonly tags?: Dict | null | undefined;
  /**
   * How progress is shown, always on stderr: `"live"`, `"plain"`, `"json"`, `"none"`. Default: what
   * fits the terminal.
   */
  readonly display?: 'live' | 'plain' | 'json' | 'none' | undefined;
  /** Where batchling writes its log lines. Default: nowhere. */
  readonly logger?: Logger | undefined;
  /** The undici dispatcher for batchling's own requests. Default: the environment's proxies. */
  readonly dispatcher?: Dispatcher | undefined;
  /** Time. Default: the real one. */
  readonly clock?: Clock | undefined;
  /** `false`: no global is touched, only `scope.fetch` captures. Default: `true`. */
  readonly hooks?: boolean | undefined;
}

export type OptionName = keyof BatchifyOptions;

/** Options as everything behind `batchify` sees them: checked, complete, in milliseconds. */
export interface ResolvedOptions {
  /** Undefined: the batcher's recommended size. */
  readonly batchSize: number | undefined;
  readonly window: number;
  readonly maxWindow: number;
  readonly poll: PollRange;
  readonly completionWindow: number;
  /** Undefined: the batcher's own limit. */
  readonly maxInFlight: number | undefined;
  readonly minBatch: number;
  readonly attempts: number;
  /** A number counts from the capture of each request, a Date is one moment for all. */
  readonly deadline: number | Date | undefined;
  readonly onDeadline: 'error' | 'realtime';
  readonly realtimeConcurrency: number;
  readonly budget: number | undefined;
  readonly dryRun: boolean;
  readonly cache: boolean;
  /** An absolute path, or `:memory:`. */
  readonly store: string;
  readonly retention: number;
  readonly maxStoreSize: number | undefined;
  readonly keep: 'answers' | 'all' | 'none';
  readonly onStoreError: 'error' | 'continue';
  readonly cleanup: boolean;
  readonly hosts: readonly HostEntry[];
  /** Undefined: everything. */
  readonly only: OnlyPredicate | undefined;
  readonly bypass: 'warn' | 'error' | 'ignore';
  readonly providers: ProviderSettings;
  readonly batchers: readonly BatcherClass[];
  readonly signal: AbortSignal | undefined;
  readonly name: string | undefined;
  readonly tags: Dict;
  /** Undefined: what fits the terminal. */
  readonly display: 'live' | 'plain' | 'json' | 'none' | undefined;
  readonly logger: Logger;
  readonly dispatcher: Dispatcher | undefined;
  readonly clock: Clock;
  readonly hooks: boolean;
}
