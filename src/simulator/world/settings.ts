import type { AnswerFunction } from './model/answer-function.ts';
import type { FlexTier } from './tiers/flex-settings.ts';
import { type PromptCacheSettings, usualCache } from './usage/cache-settings.ts';
import type { SimulatedUsage, UsageFunction } from './usage/usage.ts';

/**
 * How long a simulated batch stays in each stretch of its life, in milliseconds.
 *
 * @example
 * ```ts
 * await startSimulator({ speed: { validating: 5, running: 2000 } });
 * ```
 */
export interface SimulatorSpeed {
  validating: number;
  running: number;
  finalizing: number;
  cancelling: number;
}

/**
 * Limits of one provider; what is left out falls back to the provider's published limit.
 *
 * @example
 * ```ts
 * simulator.configure({ limits: { anthropic: { queuedRequests: 100, retryAfterSeconds: 2 } } });
 * ```
 */
export interface ProviderLimits {
  /** More requests than this in one batch are refused. */
  requestsPerBatch?: number;
  /** Bedrock: a job with fewer records fails. */
  leastRequestsPerBatch?: number;
  /** A bigger input file or create body is refused. */
  bytesPerBatch?: number;
  /** OpenAI: more inputs than this in all embeddings requests of one batch are refused. */
  embeddingInputsPerBatch?: number;
  /** OpenAI: prompt tokens waiting per model; beyond it a new batch turns `failed`. */
  enqueuedTokens?: number;
  /** Anthropic: requests waiting per account; beyond it a create gets 429. */
  queuedRequests?: number;
  /** More creates than this within an hour get 429 until the hour of the first is over. */
  createsPerHour?: number;
  /** More requests of any kind than this within a minute get 429 until the minute is over. */
  requestsPerMinute?: number;
  /** Azure: files without an end per account; there may be twenty times as many that have one. */
  files?: number;
  /** What the `retry-after` header of a 429 about `queuedRequests` says. */
  retryAfterSeconds?: number;
}

/**
 * A receiver of webhooks, and what they are signed with: `whsec_` and base64.
 *
 * @example
 * ```ts
 * simulator.configure({ webhook: { url: 'http://127.0.0.1:8787/webhooks/openai', secret: 'whsec_c2VjcmV0' } });
 * ```
 */
export interface SimulatedWebhook {
  url: string;
  secret: string;
}

/**
 * Everything about a running simulator that can be changed while it runs.
 *
 * @example
 * ```ts
 * console.log(simulator.settings.speed.running);
 * ```
 */
export interface SimulatorSettings {
  /** Answers in place of the simulated model; null for its ordinary answers. */
  answer: AnswerFunction | null;
  /** Who is told of OpenAI's batches that have ended; null: nobody. */
  webhook: SimulatedWebhook | null;
  /** The models there are, others are refused as their provider refuses them; null for any. */
  models: readonly string[] | null;
  speed: SimulatorSpeed;
  /** By provider name, e.g. `{ openai: { enqueuedTokens: 1000 } }`. */
  limits: Record<string, ProviderLimits>;
  /** The flex tiers by provider name, e.g. `{ openai: { full: 'always' } }`. */
  flex: Record<string, FlexTier>;
  /** What answers say that they have used, instead of what the simulator counts; null: nothing else. */
  usage: Partial<SimulatedUsage> | UsageFunction | null;
  promptCache: PromptCacheSettings;
  /** A batch shows up in lists only this many milliseconds after its creation. */
  listLag: number;
  /** A batch that has not ended by then, in milliseconds after its creation, ends as `expired`. */
  expiresAfter: number;
  /** OpenAI: an uploaded file is found only this many milliseconds later. */
  fileLag: number;
  /** Azure: an uploaded file is `pending` for this many milliseconds; until then no batch is made of it. */
  fileProcessing: number;
  /** Lists of batches begin with the oldest. Providers begin with the newest, but promise nothing. */
  oldestFirst: boolean;
  /** Each create is accompanied by a stranger's batch of equal size on the same account. */
  foreignBatches: boolean;
  /** Whether the meter keeps the request bodies; switch off for very large runs. */
  meterBodies: boolean;
  /** OpenAI quirk: `error_file_id` is `""` rather than null when there is no error file. */
  emptyErrorFileId: boolean;
  /** Quirk: the counts claim that every request succeeded. */
  wrongRequestCounts: boolean;
  /** Quirk: the counts are null. */
  nullRequestCounts: boolean;
  /** Quirk: the first n reads of each result file answer 404. */
  resultsNotFoundReads: number;
  /**
   * How many milliseconds results can be read: after the creation of the batch at Anthropic, which says so
   * by `archived_at`, after their own at OpenAI. In earnest it is 29 and 30 days.
   */
  resultsKept: number;
  /** Quirk of Azure: there is an error file even if nothing failed, of zero bytes. */
  zeroByteErrorFile: boolean;
  /** Quirk of DashScope: failed lines stand in the output file, and there is no error file. */
  failedLinesInOutput: boolean;
  /** Quirk of Groq: the errors of a batch are a bare array. */
  bareErrors: boolean;
  /** OpenAI: the errors of a batch count its lines from zero. Documented is neither. */
  linesFromZero: boolean;
  /**
   * OpenAI wire, quirk of Doubleword: a running batch names its output file already. It holds the
   * lines finished so far, whole ones only, and grows at its end.
   */
  earlyResults: boolean;
}

/**
 * A partial change of {@link SimulatorSettings}; `speed`, `limits`, `flex` and `promptCache` are
 * merged.
 *
 * @example
 * ```ts
 * simulator.configure({ listLag: 2000, foreignBatches: true });
 * ```
 */
export type SimulatorSettingsChange = Partial<
  Omit<SimulatorSettings, 'speed' | 'limits' | 'flex' | 'promptCache'>
> & {
  speed?: Partial<SimulatorSpeed>;
  limits?: Record<string, ProviderLimits>;
  flex?: Record<string, FlexTier>;
  promptCache?: Partial<PromptCacheSettings>;
};

export function defaultSettings(): SimulatorSettings {
  return {
    answer: null,
    webhook: null,
    models: null,
    speed: { validating: 20, running: 100, finalizing: 20, cancelling: 20 },
    limits: {},
    flex: {},
    usage: null,
    promptCache: { ...usualCache },
    listLag: 0,
    expiresAfter: Number.POSITIVE_INFINITY,
    fileLag: 0,
    fileProcessing: 0,
    oldestFirst: false,
    foreignBatches: false,
    meterBodies: true,
    emptyErrorFileId: false,
    wrongRequestCounts: false,
    nullRequestCounts: false,
    resultsNotFoundReads: 0,
    resultsKept: Number.POSITIVE_INFINITY,
    zeroByteErrorFile: false,
    failedLinesInOutput: false,
    bareErrors: false,
    linesFromZero: false,
    earlyResults: false,
  };
}
