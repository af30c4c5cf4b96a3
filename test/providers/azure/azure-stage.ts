import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { BatchifyOptions } from '../../../src/index.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';

export const apiKey = 'azure-key-7c1fe0d2';
export const online = 'gpt-4o';
export const batched = 'gpt-4o-batch';
export const version = '2025-04-01-preview';

/** A resource of Azure, and a program that is configured for it. */
export interface AzureStage {
  readonly simulator: Simulator;
  /** What the SDK calls the endpoint of the resource. */
  readonly endpoint: string;
  /** Impatient options with a fresh ledger; what is given wins. */
  options(given?: BatchifyOptions): BatchifyOptions;
  /** The lines of all input files that are still there. */
  lines(): Promise<string[]>;
}

const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };

/** For the tests of the surrounding `describe`, emptied before each. */
export function useAzure(): AzureStage {
  let simulator: Simulator;
  let folder: string;
  let stores = 0;

  beforeAll(async () => {
    // An online deployment is none that batches run on.
    simulator = await startSimulator({ speed, models: [batched] });
    folder = await mkdtemp(join(tmpdir(), 'batchling-azure-'));
  });
  beforeEach(() => simulator.reset());
  afterAll(async () => {
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function get(path: string): Promise<Response> {
    return fetch(`${simulator.baseUrl('azure')}${path}`, { headers: { 'api-key': apiKey } });
  }

  return {
    get simulator() {
      return simulator;
    },
    get endpoint() {
      return `${simulator.url}/azure`;
    },
    options(given) {
      stores += 1;
      return {
        store: join(folder, `ledger-${stores}.db`),
        hosts: { [simulator.baseUrl('azure')]: 'azure' },
        providers: { azure: { deployments: { [online]: batched } } },
        // A minute between two polls is a tenth of a second.
        clock: fastClock({ epoch: Date.now(), speed: 600 }),
        window: '10s',
        ...given,
      };
    },
    async lines() {
      const { data } = (await (await get('/files?purpose=batch')).json()) as {
        data: { id: string }[];
      };
      const texts = data.map(async ({ id }) => (await get(`/files/${id}/content`)).text());
      return (await Promise.all(texts)).flatMap((text) => text.trimEnd().split('\n'));
    },
  };
}

export interface Style {
  readonly name: string;
  /** What stands before `/files` and `/batches`. */
  readonly root: string;
  /** Of a line with a chat completion. */
  readonly url: string;
  /** The header that carries the key. */
  readonly header: string;
  /** What all requests of ours have in their query. */
  readonly version: string | null;
  connect(stage: AzureStage, maxRetries?: number): OpenAI;
  /** Where the SDK sends a chat completion. */
  chatUrl(stage: AzureStage): string;
}

const plain = { organization: null, project: null };

export const newerStyle: Style = {
  name: 'OpenAI and /openai/v1',
  root: '/openai/v1',
  url: '/v1/chat/completions',
  header: 'authorization',
  version: null,
  connect: ({ simulator }, maxRetries = 0) =>
    new OpenAI({ ...plain, apiKey, maxRetries, baseURL: simulator.baseUrl('azure') }),
  chatUrl: ({ endpoint }) => `${endpoint}/openai/v1/chat/completions`,
};

export const olderStyle: Style = {
  name: 'AzureOpenAI and an api-version',
  root: '/openai',
  url: '/chat/completions',
  header: 'api-key',
  version,
  connect: ({ endpoint }, maxRetries = 0) =>
    new AzureOpenAI({ ...plain, apiKey, maxRetries, endpoint, apiVersion: version }),
  chatUrl: ({ endpoint }) =>
    `${endpoint}/openai/deployments/${online}/chat/completions?api-version=${version}`,
};

export const styles: readonly Style[] = [newerStyle, olderStyle];

/** Every request that reached the resource went below this root, with this version and this header. */
export function strayRequests({ simulator }: AzureStage, { root, version, header }: Style) {
  const other = header === 'api-key' ? 'authorization' : 'api-key';
  return simulator.requests.filter(({ path, query, headers }) => {
    const isPlace = path.startsWith(`${root}/files`) || path.startsWith(`${root}/batches`);
    const isVersion = new URLSearchParams(query).get('api-version') === version;
    return !isPlace || !isVersion || headers[header] === undefined || headers[other] !== undefined;
  });
}
