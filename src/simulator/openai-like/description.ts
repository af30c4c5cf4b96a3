import type { Refusal } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import type { Ending, Phase } from '../world/batches/batch.ts';
import type { Route } from '../world/provider.ts';
import type { TierRules } from '../world/tiers/tier-rules.ts';
import type { AutomaticCache } from '../world/usage/automatic-prefixes.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';
import type { World } from '../world/world.ts';
import type { Batches } from './batches/batches.ts';
import type { Files, NewFile, StoredFile } from './files/files.ts';
import type { PageSizes } from './page.ts';

/** The states of a batch in OpenAI's words. */
export type StatusWord = Exclude<Phase, 'ended'> | Ending;

/** What a provider's own routes work with. */
export interface ProviderParts {
  world: World;
  like: OpenAILike;
  files: Files;
  batches: Batches;
}

/**
 * One provider that has files and batches like OpenAI, described by what it does in its own way.
 *
 * @example
 * ```ts
 * const mine: OpenAILike = {
 *   ...openaiDescription,
 *   name: 'mine',
 *   root: '/api/v2',
 *   endpoints: ['/v1/chat/completions'],
 *   statuses: { validating: 'QUEUED', completed: 'SUCCESS' },
 *   requestsPerBatch: 1000,
 * };
 * const simulator = await startSimulator({ openaiLike: [mine] });
 * const client = new OpenAI({ apiKey: 'any', baseURL: simulator.baseUrl('mine') });
 * ```
 */
export interface OpenAILike {
  /** Its URLs begin with `/<name>` behind the simulator's own. */
  name: string;
  /** What stands before all paths, and what SDKs get as the path of their base URL: `/v1`. */
  root: string;
  /** Paths without a name in front that belong to it; none for all but one provider. */
  barePaths: readonly string[];
  /** Below the root: `/files`. */
  filesPath: string;
  /** Below the root: `/batches`. */
  batchesPath: string;
  /** What a create may name as its endpoint. The simulator also serves those it can answer at once. */
  endpoints: readonly string[];
  /** What a create may ask for as its completion window. */
  windows: readonly string[];
  /** The completion window of a create that names none. Missing: a create has to name one. */
  usualWindow?: string;
  /** Fields of a create; another one is refused. */
  createFields: readonly string[];
  /** The `purpose` of input files. Empty: an upload names none. */
  purpose: string;
  /** Lines are `{ custom_id, body }`; `method` and `url` may be missing. */
  bareLines: boolean;
  /** The endpoint that a line with this URL asks for, where a batch may hold others than its own. */
  lineEndpoint?(url: string, endpoint: string): string | undefined;
  /** There is an error file even if nothing failed, of zero bytes. */
  alwaysErrorFile?: true;
  /** The file of an upload has to name its content type. */
  typedParts?: true;
  /** How many seconds a file is kept, by the fields of its form. Missing: OpenAI's way to say it. */
  lifetimeOf?(form: ReadonlyMap<string, string>): number;
  /** Refuses a file that the account has no room for. */
  admitFile?(file: Omit<NewFile, 'account'>, others: readonly StoredFile[], world: World): void;
  /** Its word for the state of a file. Missing: `processed`, which a batch needs, at once. */
  fileStatus?(file: StoredFile, world: World): string;
  /** Lines of one file may name several models. */
  mixedLines?: true;
  /** Why it refuses a body in a line, seen beside that of the first line of the file. */
  refuses?(body: JsonObject, first: JsonObject): string | undefined;
  /** The endpoint of OpenAI's whose answers this one of its own has: `/v1/chat/completions`. */
  answersAs?(endpoint: string): string;
  /** Failed lines stand in the output file. */
  failedLinesInOutput?: true;
  /** The status of the answer to a cancel that comes too late. Missing: 409. */
  lateCancelStatus?: number;
  /** A running batch names its output file, and the file grows. */
  earlyResults?: true;
  /** Statuses of the answers to an upload and to a create. */
  uploadStatus: number;
  createStatus: number;
  /** Its own words for the states of a batch, where it has some. */
  statuses: Partial<Record<StatusWord, string>>;
  fileIdPrefix: string;
  batchIdPrefix: string;
  /** Limits, unless the settings say otherwise. */
  requestsPerBatch: number;
  bytesPerBatch: number;
  /** Inputs of all embeddings requests of one batch. */
  embeddingInputsPerBatch: number;
  /** Headers that may carry the key, beside `authorization`: `api-key`. */
  keyHeaders: readonly string[];
  /** Headers that, beside the credential, keep accounts apart. */
  scopeHeaders: readonly string[];
  requestIdHeader: string;
  /** `path`: what was asked for. Missing: it is told in a line. */
  errorBody(refusal: Refusal, path?: string): unknown;
  /** Its file object, made of OpenAI's. */
  fileObject(file: JsonObject): JsonObject;
  /** Its batch object, made of OpenAI's. */
  batchObject(batch: JsonObject): JsonObject;
  /** The answer to a create, made of its batch object. */
  created(batch: JsonObject): JsonObject;
  /** Its line of a result file, made of OpenAI's; null where it writes none. */
  resultLine(line: JsonObject): JsonObject | null;
  /** One page of a list that is in its order already. */
  page(items: readonly JsonObject[], query: URLSearchParams, sizes: PageSizes): unknown;
  /** The path at which an endpoint is served at once. Missing: the root instead of `/v1`. */
  onlinePath?(endpoint: string): string;
  /** Its usage, made of OpenAI's. Missing: that. */
  usage?(told: JsonObject, usage: SimulatedUsage): JsonObject;
  /** How it keeps prompts by itself. Missing: it does not. */
  automaticCache?(model: string): AutomaticCache;
  /** The service tiers of its ordinary calls. Missing: `service_tier` has no effect. */
  tiers?: TierRules;
  /** Paths that only it has, or serves in another way than OpenAI: these are looked at first. */
  moreRoutes?(parts: ProviderParts): readonly Route[];
}
