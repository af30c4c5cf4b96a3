import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { Agent, type Dispatcher } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const region = 'us-west-2';
const host = `aws-external-anthropic.${region}.api.aws`;
const keys = { accessKeyId: 'AKIDPLATFORM', secretAccessKey: 'secret-of-AKIDPLATFORM' };

let stage: Stage;
let dispatcher: Dispatcher;

beforeAll(async () => {
  stage = await openStage();
  const origin = stage.simulator.url;
  // The simulator sees what the host of AWS would see.
  dispatcher = new Agent().compose(
    (dispatch) => (given, handler) =>
      dispatch({ ...given, origin, headers: { ...given.headers, host } }, handler),
  );
});
afterAll(async () => {
  await dispatcher.close();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({ hosts: {}, dispatcher, ...given });
}

function useKeys(): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', keys.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', keys.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', '');
}

/** Anthropic's client with calls that AWS's own signer signs. */
function signing(workspace: string): Anthropic {
  const service = 'aws-external-anthropic';
  const signer = new SignatureV4({ service, region, credentials: keys, sha256: Sha256 });
  return new Anthropic({
    apiKey: null,
    authToken: null,
    baseURL: `https://${host}`,
    defaultHeaders: { 'anthropic-workspace-id': workspace, 'x-api-key': null, authorization: null },
    maxRetries: 0,
    async fetch(url, init = {}) {
      const { pathname } = new URL(String(url));
      const headers = Object.fromEntries(
        new Headers(init.headers as ConstructorParameters<typeof Headers>[0]),
      );
      const unsigned = { method: 'POST', protocol: 'https:', hostname: host, path: pathname };
      const request = { ...unsigned, headers: { ...headers, host }, body: init.body };
      const signed = await signer.sign(request);
      return fetch(url, { ...(init as RequestInit), headers: signed.headers });
    },
  });
}

const workspaces = () =>
  stage.simulator.requests.map(({ headers }) => headers['anthropic-workspace-id']);

it('batches calls that are signed, with requests that batchling signs, a workspace a batch', async () => {
  useKeys();
  const store = stage.newStore();
  const [one, two] = [signing('wrkspc_1'), signing('wrkspc_2')];
  const answers = await batchify(
    () => Promise.all([askClaude(one, 'red'), askClaude(one, 'green'), askClaude(two, 'blue')]),
    options({ store }),
  );
  for (const [index, color] of ['red', 'green', 'blue'].entries()) {
    expect(answers[index]).toContain(`answer to "${color}"`);
  }
  const sizes = stage.simulator.batches().map(({ requests }) => requests);
  expect(sizes.toSorted()).toEqual([1, 2]);
  expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
  expect(new Set(workspaces())).toEqual(new Set(['wrkspc_1', 'wrkspc_2']));
  const folder = dirname(store);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(folder, entry.name));
    for (const secret of ['secret-of-', 'Signature=', keys.accessKeyId]) {
      expect(bytes.includes(secret)).toBe(false);
    }
  }
});

it('batches calls with an API key of the workspace, which serves its batches, too', async () => {
  const client = new Anthropic({
    apiKey: 'sk-of-the-workspace',
    baseURL: `https://${host}`,
    defaultHeaders: { 'anthropic-workspace-id': 'wrkspc_1' },
  });
  const answer = await batchify(() => askClaude(client, 'red'), options());
  expect(answer).toContain('answer to "red"');
  expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
});

it('says what is missing where calls are signed and no keys are to be found', async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, '');
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  const error = await batchify(
    () => askClaude(signing('wrkspc_1'), 'red').catch((caught: unknown) => caught),
    options(),
  );
  expect(String(error)).toMatch(/found no keys: set AWS_ACCESS_KEY_ID/);
  expect(stage.simulator.batches()).toEqual([]);
});
