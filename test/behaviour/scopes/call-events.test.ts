import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import axios from 'axios';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../../src/index.ts';
import { loadDriver } from '../../../src/ledger/sqlite/connection/driver.ts';
import { chatRequest } from '../../support/ask.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { startHoldingServer } from '../../support/servers/holding-server.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const facts = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'gpt-test' };

/** A scope, and the events of its calls. */
function watched(options: BatchifyOptions) {
  const scope = batchify(options);
  const captured: unknown[] = [];
  const answered: unknown[] = [];
  scope.on('call:captured', (event) => captured.push(event));
  scope.on('call:answered', (event) => answered.push(event));
  return { scope, captured, answered };
}

const statusOf = async (prompt: string, url = chatUrl(stage)) =>
  (await fetch(url, chatRequest(prompt))).status;

const askIn = (scope: BatchingContext, prompts: readonly string[]) =>
  scope.run(() => Promise.all(prompts.map((prompt) => statusOf(prompt))));

describe('a call that gets an answer of ours is captured once and answered once', () => {
  it('when its completionWindow is not offered', async () => {
    const { scope, captured, answered } = watched(stage.options({ completionWindow: '5s' }));
    expect(await askIn(scope, ['one', 'two'])).toEqual([400, 400]);
    await scope.close();
    const refused = { ...facts, status: 400, source: 'batch', error: 'batchling_unsupported' };
    expect({ captured, answered }).toEqual({
      captured: [facts, facts],
      answered: [refused, refused],
    });
    expect(scope.stats).toMatchObject({ captured: 2, answered: 2, failed: 2, bypassed: 0 });
  });

  it('when there is no ledger to be opened', async () => {
    const store = stage.newStore();
    await mkdir(dirname(store), { recursive: true });
    await writeFile(store, 'this is no database, and long enough to be looked at'.repeat(100));
    const { scope, captured, answered } = watched(stage.options({ store }));
    expect(await askIn(scope, ['one', 'two'])).toEqual([500, 500]);
    await scope.close();
    const refused = { ...facts, status: 500, source: 'batch', error: 'batchling_store' };
    expect({ captured, answered }).toEqual({
      captured: [facts, facts],
      answered: [refused, refused],
    });
  });

  it('when the ledger fails', async () => {
    const options = stage.options();
    const { scope, captured, answered } = watched(options);
    expect(await askIn(scope, ['while it works'])).toEqual([200]);
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(options.store as string, { timeout: 5_000 });
    database.exec(
      "CREATE TRIGGER bad BEFORE INSERT ON request BEGIN SELECT RAISE(ABORT, 'the disk is bad'); END",
    );
    database.close();
    expect(await askIn(scope, ['one', 'two'])).toEqual([500, 500]);
    await scope.close();
    const refused = { ...facts, status: 500, source: 'batch', error: 'batchling_store' };
    expect(captured).toEqual([facts, facts, facts]);
    expect(answered.slice(1)).toEqual([refused, refused]);
  });
});

describe('a realtime call of ours is captured once and answered once', () => {
  it('when its scope is cancelled while it waits for its turn', async () => {
    const server = await startHoldingServer();
    const { scope, captured, answered } = watched({
      store: ':memory:',
      hosts: { [server.baseUrl]: 'openai' },
      window: '5ms',
      minBatch: 100,
      realtimeConcurrency: 1,
    });
    const url = `${server.baseUrl}/chat/completions`;
    const asked = scope.run(() => ['first', 'second'].map((prompt) => statusOf(prompt, url)));
    await until(() => server.held.length === 1, 'the first call');
    await scope.cancel();
    expect(await soon(asked[1] as Promise<number>)).toBe(499);
    server.answer();
    expect(await soon(asked[0] as Promise<number>)).toBe(200);
    await soon(scope.close());
    expect({ captured, answered }).toEqual({
      captured: [facts, facts],
      answered: [
        { ...facts, status: 499, source: 'batch' },
        { ...facts, status: 200, source: 'realtime' },
      ],
    });
    await server.close();
  });

  it('when the provider does not answer it within 10 minutes', async () => {
    const server = await startHoldingServer();
    const { clock, skipHours } = patientClock();
    const { scope, captured, answered } = watched({
      store: ':memory:',
      hosts: { [server.baseUrl]: 'openai' },
      window: '5ms',
      minBatch: 100,
      clock,
    });
    const asked = scope.run(() => statusOf('slow', `${server.baseUrl}/chat/completions`));
    await until(() => server.held.length === 1, 'the call');
    skipHours(1);
    expect(await soon(asked)).toBe(504);
    await soon(scope.close());
    expect({ captured, answered }).toEqual({
      captured: [facts],
      answered: [{ ...facts, status: 504, source: 'realtime' }],
    });
    await server.close();
  });
});

it('a call whose client ended with its deadline is not answered, only the one that asks again', async () => {
  const { simulator } = stage;
  simulator.hold();
  const { scope, captured, answered } = watched(stage.options());
  const { body, headers } = chatRequest('slow');
  const post = (timeout: number) =>
    scope.run(() => axios.post(chatUrl(stage), body, { headers, timeout }));
  await expect(soon(post(100))).rejects.toThrow('timeout');
  await until(() => scope.stats.batches.submitted === 1, 'the batch');
  const again = post(0);
  await until(() => scope.stats.captured === 2, 'the second call');
  // Calls are taken in one after the other: once this one is sent, the second call waits for its answer.
  const later = askIn(scope, ['later']);
  await until(() => scope.stats.batches.submitted === 2, 'the batch of the last call');
  simulator.release();
  expect((await soon(again)).status).toBe(200);
  expect(await soon(later)).toEqual([200]);
  await soon(scope.close());
  expect(captured).toEqual([facts, facts, facts]);
  const fromBatch = { ...facts, status: 200, source: 'batch', inputTokens: expect.any(Number) };
  expect(answered).toMatchObject([fromBatch, fromBatch]);
});

it('a request that is tried again counts neither as answered nor as failed in its first batch', async () => {
  const { scope } = watched(stage.options());
  const collected: unknown[] = [];
  scope.on('batch:collected', ({ count, answered, failed }) =>
    collected.push({ count, answered, failed }),
  );
  const prompts = ['good', '[[once status 500]] later', '[[status 400]] bad'];
  expect(await askIn(scope, prompts)).toEqual([200, 200, 400]);
  await scope.close();
  expect(collected).toEqual([
    { count: 3, answered: 1, failed: 1 },
    { count: 1, answered: 1, failed: 0 },
  ]);
  expect(scope.stats).toMatchObject({ answered: 3, failed: 1, retried: 1 });
});
