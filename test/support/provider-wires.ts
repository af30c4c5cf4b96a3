import type { BatchifyOptions } from '../../src/index.ts';

interface Place {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
}

/** How programs of tests talk to a provider, and where its batch wire is. */
export interface ProviderWire {
  /** Whose SDK the program uses. */
  readonly sdk: 'openai' | 'anthropic' | 'google' | 'vertex';
  /** What follows the simulator's base URL in that of the SDK. */
  readonly path?: string;
  /** What the program has to say beside its key. */
  readonly options?: BatchifyOptions;
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
} satisfies Record<string, ProviderWire>;

export type WiredProvider = keyof typeof providerWires;

export const wiredProviders = Object.keys(providerWires) as WiredProvider[];

export function wireOf(provider: WiredProvider): ProviderWire {
  return providerWires[provider];
}
