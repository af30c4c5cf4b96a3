import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { type ClientOptions } from 'openai';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { BatchifyOptions, ProviderName } from '../../src/index.ts';
import { type Simulator, startSimulator } from '../../src/simulator/index.ts';

/** A provider with files and batches like OpenAI's, as its own users meet it. */
export interface ProviderCase {
  readonly name: ProviderName;
  readonly model: string;
  /** What stands in URLs before all paths, without the simulator's mount. */
  readonly root: string;
  /** The line of a request, made of its id and its body as text. */
  line(customId: string, body: string): string;
  /** Missing: OpenAI's SDK with the provider's base URL. */
  connect?(simulator: Simulator, options: ClientOptions): OpenAI;
  /** Classes of errors of that SDK. */
  readonly errors?: Readonly<Record<ErrorClass, abstract new (...given: never[]) => Error>>;
  /** Batches never expire there. */
  readonly neverExpires?: true;
}

export type ErrorClass =
  | 'BadRequestError'
  | 'AuthenticationError'
  | 'PermissionDeniedError'
  | 'NotFoundError'
  | 'ConflictError'
  | 'UnprocessableEntityError'
  | 'RateLimitError'
  | 'InternalServerError'
  | 'APIError';

/** Where a test of a provider takes place. */
export interface ProviderStage {
  readonly simulator: Simulator;
  readonly client: OpenAI;
  /** The provider's SDK; it tries nothing twice unless it is told to. */
  connect(options?: ClientOptions): OpenAI;
  /** Impatient options with a fresh ledger in memory; what is given wins. */
  options(given?: BatchifyOptions): BatchifyOptions;
  /** The lines of all input files, oldest first. Only where nothing is cleaned up. */
  lines(): Promise<string[]>;
}

const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };

/** Opens a stage for the tests of the surrounding `describe`, emptied before each. */
export function useProvider({ name, connect }: ProviderCase): ProviderStage {
  let simulator: Simulator;
  let folder: string;
  let stores = 0;

  beforeAll(async () => {
    simulator = await startSimulator({ speed });
    folder = await mkdtemp(join(tmpdir(), 'batchling-provider-'));
  });
  beforeEach(() => simulator.reset());
  afterAll(async () => {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  const stage: ProviderStage = {
    get simulator() {
      return simulator;
    },
    get client() {
      return stage.connect();
    },
    connect(options = {}) {
      const all = { apiKey: 'sk-provider-test', maxRetries: 0, ...options };
      if (connect) return connect(simulator, all);
      const own = { baseURL: simulator.baseUrl(name), organization: null, project: null };
      return new OpenAI({ ...own, ...all });
    },
    options(given) {
      stores += 1;
      return {
        store: join(folder, `ledger-${stores}.db`),
        hosts: { [simulator.baseUrl(name)]: name },
        window: '20ms',
        poll: '10ms',
        ...given,
      };
    },
    async lines() {
      const files = await stage.client.files.list();
      const inputs = files.data.filter(({ purpose }) => purpose !== 'batch_output').reverse();
      const texts = inputs.map(async ({ id }) => (await stage.client.files.content(id)).text());
      return (await Promise.all(texts)).flatMap((text) => text.trimEnd().split('\n'));
    },
  };
  return stage;
}
