import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { googleInfo } from '../../../src/batchers/index.ts';
import { batchify } from '../../../src/index.ts';
import { accountHash, splitHeaders } from '../../../src/orchestrator/capture/credentials.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { askGemini, type GoogleStage, manyPrompts, openGoogleStage } from './google-stage.ts';

let stage: GoogleStage;

beforeAll(async () => {
  stage = await openGoogleStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const key = 'AIza-secret-90fd2c77ab';

function generate(text: string, query: string, headers: Record<string, string> = {}) {
  return fetch(`${stage.base}/v1beta/models/gemini-test:generateContent${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ contents: [{ parts: [{ text }] }] }),
  });
}

async function filesAround(store: string): Promise<[string, Buffer][]> {
  const entries = await readdir(dirname(store), { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ name, parentPath }) => [name, await readFile(join(parentPath, name))]),
  );
}

describe('a key', () => {
  it('by header and by query is one account: the calls share a batch', async () => {
    const responses = await batchify(
      () =>
        Promise.all([
          generate('one', '', { 'x-goog-api-key': key }),
          generate('two', `?key=${key}`),
        ]),
      stage.googleOptions(),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 2 }]);
  });

  it('that is an OAuth token goes along with its project', async () => {
    const headers = { authorization: 'Bearer ya29.token-1', 'x-goog-user-project': 'mine' };
    await batchify(
      () =>
        Promise.all([
          generate('one', '', headers),
          generate('two', '', { ...headers, 'x-goog-user-project': 'yours' }),
        ]),
      stage.googleOptions(),
    );
    expect(stage.simulator.batches().map(({ requests }) => requests)).toEqual([1, 1]);
    const projects = stage.simulator.requests.map((one) => one.headers['x-goog-user-project']);
    expect(new Set(projects)).toEqual(new Set(['mine', 'yours']));
  });

  it('in the query goes with all batch traffic, and is in no file, event, log line or error', async () => {
    const store = stage.newStore();
    const told: unknown[] = [];
    const log = (...parts: unknown[]) => void told.push(parts);
    const logger = { debug: log, info: log, warn: log, error: log };
    const scope = batchify(stage.googleOptions({ store, keep: 'all', logger }));
    for (const name of ['call:answered', 'batch:submitted', 'batch:ended'] as const) {
      scope.on(name, (event) => void told.push(event));
    }
    const path = '/upload/v1beta/files';
    const { faults } = stage.simulator;
    // The provider echoes what it should not, at the start of an upload and in the middle of it.
    const body = { error: { code: 503, message: `No ${key} now`, status: 'UNAVAILABLE' } };
    faults.add({ method: 'POST', path, action: { kind: 'status', status: 503, body } });
    faults.add({ method: 'POST', path, skip: 1, action: { kind: 'reset' } });
    const responses = await scope.run(() =>
      Promise.all(manyPrompts().map((prompt) => generate(prompt, `?key=${key}`))),
    );
    await scope.close();
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { query } of stage.simulator.requests) expect(query).toContain('key=REDACTED');
    const text = inspect(told, { depth: 10 });
    expect(text).toContain('No [redacted] now');
    expect(text).toContain('was sent, but no answer came');
    expect(text).not.toContain(key);
    expect(text).not.toContain('upload_id');
    for (const [name, bytes] of await filesAround(store)) {
      expect(bytes.includes(key), name).toBe(false);
    }
  });

  it('that Google does not know is told so', async () => {
    const client = stage.google({ apiKey: 'invalid-key', httpOptions: { baseUrl: stage.base } });
    const failed = await batchify(
      () => askGemini(client, 'one').catch((error: unknown) => error),
      stage.googleOptions(),
    );
    expect(failed).toMatchObject({
      status: 400,
      message: expect.stringContaining('API key not valid'),
    });
  });
});

describe("an account at Google's own host", () => {
  function account(headers: Record<string, string>, query: Record<string, string> = {}) {
    const split = splitHeaders(headers, googleInfo, false, { query, credential: undefined });
    return accountHash(Buffer.from('salt'), split, googleInfo).toString('hex');
  }

  it('is the bare key, wherever it stands, and its project', () => {
    const own = account({ 'x-goog-api-key': key, 'x-goog-api-client': 'sdk/1' });
    expect(account({}, { key })).toBe(own);
    expect(account({ authorization: `Bearer ${key}`, 'user-agent': 'other' })).toBe(own);
    expect(account({ 'x-goog-api-key': 'another' })).not.toBe(own);
    expect(account({ 'x-goog-api-key': key, 'x-goog-user-project': 'mine' })).not.toBe(own);
  });
});

describe('the paths', () => {
  it.each(['v1beta', 'v1'])('of a call to /%s are batched below /v1beta', async (apiVersion) => {
    const httpOptions = { baseUrl: stage.base, apiVersion };
    const client = stage.google({ apiKey: key, httpOptions });
    await batchify(
      () => Promise.all(manyPrompts().map((prompt) => askGemini(client, prompt))),
      stage.googleOptions(),
    );
    const seen = stage.simulator.requests.map(({ method, path }) =>
      `${method} ${path}`.replace(/(files|batches)\/[^:]+/, '$1/ID'),
    );
    expect([...new Set(seen)]).toEqual([
      'POST /upload/v1beta/files',
      'POST /v1beta/models/gemini-test:batchGenerateContent',
      'GET /v1beta/batches/ID',
      'GET /v1beta/files/ID:download',
      'DELETE /v1beta/files/ID',
    ]);
    const accounts = new Set(stage.simulator.requests.map(({ account }) => account));
    expect(accounts.size).toBe(1);
  });

  it('of a gateway with a prefix of its own are below that prefix, uploads too', async () => {
    const proxy = await startRecordingProxy(stage.simulator.url);
    onTestFinished(() => proxy.close());
    const base = `${proxy.url}/google`;
    const client = stage.google({ apiKey: key, httpOptions: { baseUrl: base } });
    await batchify(
      () => Promise.all(manyPrompts().map((prompt) => askGemini(client, prompt))),
      stage.googleOptions({}, base),
    );
    expect(proxy.requests).toHaveLength(stage.simulator.requests.length);
    for (const { path } of proxy.requests) expect(path).toMatch(/^\/google\//);
  });

  it('of what is free, or a batch of the program itself, are left alone', async () => {
    const client = stage.google();
    const contents = 'how many?';
    const counted = await batchify(async () => {
      const { totalTokens } = await client.models.countTokens({ model: 'gemini-test', contents });
      await client.batches.list();
      return totalTokens;
    }, stage.googleOptions());
    expect(counted).toBeGreaterThan(0);
    expect(stage.simulator.requests.map(({ path }) => path)).toEqual([
      '/v1beta/models/gemini-test:countTokens',
      '/v1beta/batches',
    ]);
  });
});
