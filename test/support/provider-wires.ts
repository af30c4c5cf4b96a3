import type { BatchifyOptions } from '../../src/index.ts';
import type { SimulatorSettingsChange } from '../../src/simulator/index.ts';
import { awsKeys } from './programs/parts/more-clients.ts';

interface Place {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: RegExp;
}

/** Whose SDK a program uses; `responses` and `embeddings`: that of OpenAI, for these. */
export type Sdk =
  | 'openai'
  | 'responses'
  | 'embeddings'
  | 'anthropic'
  | 'google'
  | 'vertex'
  | 'bedrock';

/** How programs of tests talk to a provider, and where its batch wire is. */
export interface ProviderWire {
  readonly sdk: Sdk;
  /** The model that programs ask, where it has to have a name of a kind. */
  readonly model?: string;
  /** What follows the simulator's base URL in that of the SDK. */
  readonly path?: string;
  /** What the program has to say beside its key. */
  readonly options?: BatchifyOptions;
  /** How the simulated provider differs from the usual one. */
  readonly settings?: SimulatorSettingsChange;
  /** The list is read before each create, for a mark. */
  readonly looksFirst?: true;
  /** Missing: small batches travel in the create. */
  readonly upload?: Place;
  readonly create: Place;
  readonly poll: Place;
  readonly list: Place;
  readonly results: Place;
  readonly cancel: Place;
  /**
   * How fast the clock of a program runs that is killed. The looks after an unclear create are 15 s apart where
   * its trace is exact, and go on for 10 minutes where it is not; a provider may also want polls to be rare.
   * All of this is to last around a second or a few. Where the trace is exact it must stay below 100: lists lag by
   * 150 ms of real time, and looks end after 15 s of the program's.
   */
  readonly haste: number;
}

const openaiLike: ProviderWire = {
  sdk: 'openai',
  upload: { method: 'POST', path: /\/files$/ },
  create: { method: 'POST', path: /\/batches$/ },
  poll: { method: 'GET', path: /\/batches\/[^/]+$/ },
  list: { method: 'GET', path: /\/batches$/ },
  results: { method: 'GET', path: /\/content$/ },
  cancel: { method: 'POST', path: /\/cancel$/ },
  haste: 15,
};

const { upload: _, ...inline } = openaiLike;

/** Every provider with a way of its own to make a batch, to find it again or to read it. */
export const providerWires = {
  openai: openaiLike,
  azure: {
    ...openaiLike,
    options: { providers: { azure: { deployments: { 'gpt-test': 'gpt-test' } } } },
    haste: 50,
  },
  groq: openaiLike,
  together: { ...openaiLike, haste: 50 },
  doubleword: openaiLike,
  mistral: {
    ...inline,
    path: '/v1',
    looksFirst: true,
    create: { method: 'POST', path: /\/batch\/jobs$/ },
    poll: { method: 'GET', path: /\/batch\/jobs\/[^/]+$/ },
    list: { method: 'GET', path: /\/batch\/jobs$/ },
  },
  xai: {
    ...openaiLike,
    results: { method: 'GET', path: /\/results$/ },
    cancel: { method: 'POST', path: /:cancel$/ },
  },
  google: {
    ...inline,
    sdk: 'google',
    create: { method: 'POST', path: /:batchGenerateContent$/ },
    results: { method: 'GET', path: /\/batches\/[^/]+$/ },
    cancel: { method: 'POST', path: /:cancel$/ },
  },
  vertex: {
    sdk: 'vertex',
    options: { providers: { vertex: { bucket: 'gs://mine' } } },
    upload: { method: 'POST', path: /^\/upload\/storage\/v1\/b\/mine\/o$/ },
    create: { method: 'POST', path: /\/batchPredictionJobs$/ },
    poll: { method: 'GET', path: /\/batchPredictionJobs\/[^/]+$/ },
    list: { method: 'GET', path: /\/batchPredictionJobs$/ },
    results: { method: 'GET', path: /^\/storage\/v1\/b\/mine\/o\/[^/]+$/ },
    cancel: { method: 'POST', path: /:cancel$/ },
    haste: 15,
  },
  anthropic: {
    ...inline,
    sdk: 'anthropic',
    looksFirst: true,
    results: { method: 'GET', path: /\/results$/ },
    haste: 250,
  },
  sference: {
    ...inline,
    looksFirst: true,
    results: { method: 'GET', path: /\/results\.jsonl$/ },
    haste: 250,
  },
  openrouter: {
    ...inline,
    looksFirst: true,
    results: { method: 'GET', path: /\/batches\/[^/]+$/ },
    haste: 250,
  },
  ovhcloud: openaiLike,
  qianfan: openaiLike,
  perplexity: { ...openaiLike, sdk: 'responses' },
  fireworks: {
    sdk: 'openai',
    model: 'accounts/fireworks/models/gpt-test',
    upload: { method: 'POST', path: /\/datasets$/ },
    create: { method: 'POST', path: /\/batchInferenceJobs$/ },
    poll: { method: 'GET', path: /\/batchInferenceJobs\/[^/]+$/ },
    // A job is looked for by its id.
    list: { method: 'GET', path: /\/batchInferenceJobs\/[^/]+$/ },
    results: { method: 'GET', path: /^\/downloads\// },
    cancel: { method: 'DELETE', path: /\/batchInferenceJobs\/[^/]+$/ },
    haste: 15,
  },
  voyage: { ...openaiLike, sdk: 'embeddings' },
  bedrock: {
    sdk: 'bedrock',
    options: {
      providers: {
        bedrock: {
          bucket: 's3://mine/llm',
          roleArn: 'arn:aws:iam::123456789012:role/batches',
          region: 'us-east-1',
          // A program gets its options as JSON, and its keys by variables.
          credential: () => awsKeys,
          limits: { leastRequests: 1 },
        },
      },
    },
    settings: { limits: { bedrock: { leastRequestsPerBatch: 1 } } },
    upload: { method: 'PUT', path: /\/input\.jsonl$/ },
    create: { method: 'POST', path: /\/model-invocation-job$/ },
    poll: { method: 'GET', path: /\/model-invocation-job\/[^/]+$/ },
    list: { method: 'GET', path: /\/model-invocation-jobs$/ },
    results: { method: 'GET', path: /\/input\.jsonl\.out$/ },
    cancel: { method: 'POST', path: /\/stop$/ },
    // Signatures tell the time of the program, which must stay near that of the provider.
    haste: 5,
  },
} satisfies Record<string, ProviderWire>;

export type WiredProvider = keyof typeof providerWires;

export const wiredProviders = Object.keys(providerWires) as WiredProvider[];

export function wireOf(provider: WiredProvider): ProviderWire {
  return providerWires[provider];
}
