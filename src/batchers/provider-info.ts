import type { Dict } from '../base/types.ts';

/**
 * One setting of `providers.<name>`, as its batcher declares it. It is checked by `batchify()`, before
 * anything is captured.
 *
 * @example
 * const bucket: Setting<string> = {
 *   help: 'where input and output files are kept',
 *   allowed: 'the URI of a bucket, "gs://mine"',
 *   parse: (value) => (typeof value === 'string' && value.startsWith('gs://') ? value : undefined),
 * };
 */
export interface Setting<Value = unknown> {
  /** What it is for, in half a line. */
  readonly help: string;
  /** What may be given, for the message about a bad value. */
  readonly allowed: string;
  /** The value as the batcher will see it; `undefined`: not allowed. */
  parse(value: unknown): Value | undefined;
}

/** Checked values by name; a setting that was not given is missing. */
export type Settings = Readonly<Record<string, unknown>>;

/**
 * Paths by which calls in a provider's wire are known, whatever host they go to. They are reported where no
 * batcher takes them.
 *
 * @example
 * const paths: WirePaths = { title: 'Nimbus', before: '/v2/', endings: ['ask'] };
 */
export interface WirePaths {
  /** How people call this wire. */
  readonly title: string;
  /** What stands before the last word of a path: the source of a regular expression. */
  readonly before: string;
  /** Last words of the paths. A URL that ends in none of them is not looked at any further. */
  readonly endings: readonly string[];
  /** Whether it is an LLM call indeed, where the path is a common word. Missing: the path says it. */
  isMeant?(headers: Dict, body: Readonly<Record<string, unknown>>): boolean;
  /** The path is a common word, even at the host of an LLM provider. */
  readonly isCommonWord?: true;
  /** Nobody batches these calls, so that naming their host in `hosts` would not help. */
  readonly isUnbatched?: true;
}

/**
 * One small call as an SDK would make it, for `batchling doctor --live`.
 *
 * @example
 * const call: SampleCall = { path: '/ask', body: { model: 'nimbus-1', prompt: 'Say OK.' } };
 */
export interface SampleCall {
  /** Below the provider's root. */
  readonly path: string;
  readonly headers?: Dict;
  readonly body: object;
}

/**
 * An environment variable in which official SDKs of a provider look for their base URL.
 *
 * @example
 * const variable: BaseUrlVariable = {
 *   name: 'NIMBUS_BASE_URL',
 *   usual: 'https://api.nimbus.example/v2',
 *   readBy: 'Python, Go',
 * };
 */
export interface BaseUrlVariable {
  readonly name: string;
  /** The base URL that they have without it. */
  readonly usual: string;
  /** Languages whose SDKs are known to read it. */
  readonly readBy: string;
}

/**
 * Everything about a provider that is data. It is loaded with batchling, the batcher only with the first
 * call: a file with such an object imports nothing but types.
 *
 * @example
 * export const mineInfo: ProviderInfo = {
 *   ...openaiInfo,
 *   name: 'mine',
 *   hosts: ['llm.example.com'],
 *   environment: ['MINE_API_KEY'],
 * };
 */
export interface ProviderInfo<
  Name extends string = string,
  Declared extends Readonly<Record<string, Setting>> = Readonly<Record<string, Setting>>,
> {
  readonly name: Name;
  /** Hosts of the provider's own service. `*` stands for text without a dot: `*.openai.azure.com`. */
  readonly hosts: readonly string[];
  /** Hosts of the provider that have no batches at all. It is read of the providers of the package. */
  readonly unbatchedHosts?: readonly string[];
  /** Paths between host and endpoints: `/v1`, `/openai/v1`. */
  readonly roots: readonly string[];
  /** Last segments of a root that a `hosts` key may leave out: `/v1`. */
  readonly versions: readonly string[];
  /** Its SDKs are given a base URL without the root, and add it themselves. */
  readonly sdkAddsRoot?: true;
  /** Paths below a root that are batched. `*` stands for text without a slash: `/models/*:embed`. */
  readonly endpoints: readonly string[];
  /** Paths below a root that cost money and are not batched, which the user is told of. */
  readonly unbatched?: readonly string[];
  /** Why, by path as `unbatched` writes it, where there is more to say than that there are no batches. */
  readonly unbatchedBecause?: Readonly<Record<string, string>>;
  /** How calls in its wire look at hosts that nobody named. It is read of the providers of the package. */
  readonly wires?: readonly WirePaths[];
  /** Header names that carry a credential. */
  readonly credentialHeaders: readonly string[];
  /**
   * What one of them says of its account for longer than one call, where calls are signed; `undefined`: nothing, and it
   * is not kept. Missing: all of it.
   */
  lastingCredential?(header: string, value: string): string | undefined;
  /** Query parameters that carry a credential: `key`. */
  readonly credentialQuery?: readonly string[];
  /**
   * Query parameters of a call that all batch traffic for it has to carry: `api-version`. They are part of
   * the base, so calls that differ in them share no queue, and whoever goes on with a batch has them.
   */
  readonly baseQuery?: readonly string[];
  /** Header names that select organisation, project or workspace: part of the account. */
  readonly accountHeaders: readonly string[];
  /**
   * `x-*` headers of its wire that its batcher looks at: a tier, a guardrail. In calls to a base of the user's, too, they
   * are no credential.
   */
  readonly ownHeaders?: RegExp;
  /** Environment variables from which SDKs take them, by the name of the header. */
  readonly accountEnvironment?: Dict;
  /** Environment variables that usually hold the key; their *name* may be stored as a hint. */
  readonly environment: readonly string[];
  /** They count at the host of their usual value: a provider whose facts are a copy of these has other hosts. */
  readonly baseUrlVariables?: readonly BaseUrlVariable[];
  /** npm packages whose calls go to this provider and are captured. It is read of the providers of the package. */
  readonly packages?: readonly string[];
  /** Header of an answer that carries the provider's request id. */
  readonly requestIdHeader: string;
  /** What `providers.<name>` may hold, beside what every provider has. */
  readonly settings?: Declared;
  /** What the list of prices calls it, where that is another name. */
  readonly priceListName?: string;
  /** Every event of its streams has a name: `event: ping`. */
  readonly namesStreamEvents?: true;
  /** Cancelling a batch loses what has finished in it, though it is paid for. */
  readonly cancelLosesWork?: true;
  /** How requests keep from writing to the provider's prompt cache what no other one reads, for people. */
  readonly unreadCache?: string;
  /** The counts of a batch say nothing before it has ended. */
  readonly countsAtEnd?: true;
  /**
   * `true`: the create echoes something known before it, so a batch can be found again exactly.
   * `false`: creates are serialised per account and candidates are proved by their ids.
   */
  readonly exactlyFindable: boolean;
  /** What `batchling doctor --live` sends. Missing: it cannot try this provider. */
  sampleCall?(model: string): SampleCall;
  /**
   * A cheap model with batches for that call, by the host that serves it: a provider whose facts are a copy
   * of these has other hosts, and other models.
   */
  readonly sampleModels?: Dict;
}
