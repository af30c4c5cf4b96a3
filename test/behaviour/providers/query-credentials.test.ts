import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { OpenAIBatcher, openaiInfo } from '../../../src/batchers/index.ts';
import { type BatchlingEventName, batchify } from '../../../src/index.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** A provider that takes its key in the query, like Gemini. */
class KeyedBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'keyed', credentialQuery: ['key'] };
}

const key = 'AIza-secret-90fd2c77ab';
const names: BatchlingEventName[] = [
  'call:captured',
  'call:answered',
  'call:bypassed',
  'queue:flushed',
  'batch:submitting',
  'batch:step',
  'batch:submitted',
  'batch:polled',
  'batch:ended',
  'batch:collected',
  'request:retried',
];

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const bodyOf = (content: string) => ({
  model: 'gpt-test',
  messages: [{ role: 'user', content }],
});

function askWith(query: string, body: object): Promise<Response> {
  return fetch(`${stage.simulator.baseUrl('openai')}/chat/completions${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

function options(store: string) {
  const hosts = { [stage.simulator.baseUrl('openai')]: 'keyed' } as const;
  return stage.options({ store, keep: 'all', batchers: [KeyedBatcher], hosts, attempts: 1 });
}

async function filesAround(store: string): Promise<[string, Buffer][]> {
  const folder = dirname(store);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ name, parentPath }) => [name, await readFile(join(parentPath, name))]),
  );
}

describe('a key in the query', () => {
  it('goes with all batch traffic, and is in no file, event, log line, warning or error', async () => {
    const store = stage.newStore();
    const told: unknown[] = [];
    const log = (...parts: unknown[]) => void told.push(parts);
    const logger = { debug: log, info: log, warn: log, error: log };
    const warned = (warning: Error) => void told.push(warning.message);
    process.on('warning', warned);
    onTestFinished(() => void process.off('warning', warned));
    const scope = batchify({ ...options(store), logger });
    for (const name of names) scope.on(name, (event) => told.push(event));
    const { simulator } = stage;
    const [fine, refused, bypassed] = await scope.run(() =>
      Promise.all([
        askWith(`?key=${key}&alt=json`, bodyOf('one')),
        askWith(`?alt=json&key=${key}`, bodyOf('two [[status 400]]')),
        askWith(`?key=${key}`, { messages: [] }),
      ]),
    );
    const texts = [await fine.text(), await refused.text(), await bypassed.text()];
    await scope.close();
    expect([fine.status, refused.status]).toEqual([200, 400]);
    expect(fine.headers.get('x-batchling-source')).toBe('batch');

    const traffic = simulator.requests.filter(({ path }) => /files|batches/.test(path));
    expect(traffic.length).toBeGreaterThan(3);
    for (const { query, account } of traffic) {
      expect(query).toContain('key=REDACTED');
      expect(account).toBe(traffic[0]?.account);
    }
    expect(told).toContainEqual(expect.stringContaining('is not batched'));
    expect(JSON.stringify([told, texts])).not.toContain(key);
    for (const [name, bytes] of await filesAround(store)) {
      expect(bytes.includes(key), name).toBe(false);
    }
  });

  it('is not in what a refused batch tells, although the provider echoes it', async () => {
    const store = stage.newStore();
    const error = { message: `Wrong key ${key}!`, type: 'invalid_request_error', code: key };
    stage.simulator.faults.add({
      ...{ method: 'POST', path: '/v1/batches', times: 10 },
      action: { kind: 'status', status: 401, body: { error } },
    });
    const refused = await batchify(() => askWith(`?key=${key}`, bodyOf('one')), options(store));
    const text = await refused.text();
    expect(refused.status).toBe(401);
    expect(text).toContain('Wrong key [redacted]!');
    expect(text).not.toContain(key);
    for (const [name, bytes] of await filesAround(store)) {
      expect(bytes.includes(key), name).toBe(false);
    }
  });

  it('is no part of the fingerprint, but the rest of the query is', async () => {
    for (const query of [`?key=${key}&a=1`, '?a=1&key=other-key', `?key=${key}&a=2`]) {
      await batchify(() => askWith(query, bodyOf('one')), options(stage.newStore()));
    }
    const [one, same, other] = stage.simulator.meter.executions.map(({ customId }) =>
      customId?.slice(0, 43),
    );
    expect(same).toBe(one);
    expect(other).not.toBe(one);
  });

  it('keeps the batches of two keys apart', async () => {
    await batchify(
      () => Promise.all(['k-one', 'k-two'].map((own) => askWith(`?key=${own}`, bodyOf(own)))),
      options(stage.newStore()),
    );
    const accounts = stage.simulator.batches().map(({ account }) => account);
    expect(new Set(accounts).size).toBe(2);
  });
});

describe('the setting credential', () => {
  it('is asked for each request to the provider, in place of what the call carried', async () => {
    const tokens: string[] = [];
    const credential = async () => {
      tokens.push(`sk-rotated-${tokens.length}@team`);
      return tokens.at(-1) as string;
    };
    const given = { ...options(stage.newStore()), providers: { keyed: { credential } } };
    const answer = await batchify(() => askWith('?key=invalid', bodyOf('one')), given);
    expect([answer.status, answer.headers.get('x-batchling-source')]).toEqual([200, 'batch']);
    const { requests } = stage.simulator;
    expect(tokens.length).toBeGreaterThanOrEqual(requests.length);
    expect(requests.length).toBeGreaterThan(3);
  });

  it('that fails sends nothing, and its error is not told to the provider', async () => {
    let asked = 0;
    const credential = () => {
      asked += 1;
      if (asked < 3) throw new Error('the vault is closed');
      return 'sk-later';
    };
    const clockless = { ...options(stage.newStore()), providers: { keyed: { credential } } };
    const answer = await batchify(() => askWith('?key=invalid', bodyOf('one')), clockless);
    expect(answer.status).toBe(200);
    expect(asked).toBeGreaterThan(3);
  });
});
