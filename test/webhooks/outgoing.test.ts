import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { batchify } from '../../src/index.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startAsker } from '../support/processes/asker.ts';
import { runCli, startCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { startProxy } from './start-proxy.ts';
import { type Receiver, secret, startReceiver } from './start-receiver.ts';

const asking = fileURLToPath(
  new URL('../support/programs/launched/registered.mjs', import.meta.url),
);

let stage: Stage;
let receiver: Receiver;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  vi.stubEnv('BATCHLING_WEBHOOK_SECRET', secret);
  receiver = await startReceiver();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  stage.simulator.reset();
  await receiver.close();
});

const types = () => receiver.heard.map(({ type }) => type).sort();

function ask(content: string, model = 'gpt-5-mini') {
  return stage.openai({ maxRetries: 0 }).chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
  });
}

it('a batch that is collected and a run that is over are told, signed, and without what was asked', async () => {
  const options = { webhook: receiver.url, name: 'night', tags: { team: 'paint' } };
  await batchify(() => Promise.all([ask('my prompt'), ask('another')]), stage.options(options));
  await until(() => receiver.heard.length === 2, 'both messages');
  expect(types()).toEqual(['batch.collected', 'run.done']);
  const [collected, done] = receiver.heard.sort((one, other) => (one.type < other.type ? -1 : 1));
  expect(collected?.data).toEqual({
    ...{ provider: 'openai', endpoint: '/v1/chat/completions', model: 'gpt-5-mini' },
    ...{ batch: expect.any(String), remoteId: stage.simulator.batches()[0]?.id, count: 2 },
    ...{ answered: 2, failed: 0, name: 'night', tags: { team: 'paint' } },
    ...{ inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
    dollars: { paid: expect.any(Number), saved: expect.any(Number) },
  });
  expect(done?.data).toMatchObject({ outcome: 'done', stats: { captured: 2, answered: 2 } });
  const said = JSON.stringify(receiver.requests);
  for (const text of ['my prompt', 'sk-test', 'answer to', secret])
    expect(said).not.toContain(text);
});

it('a batch that its provider refuses is told once, when its callers are', async () => {
  const options = stage.options({ webhook: receiver.url });
  const action = { kind: 'status', status: 401 } as const;
  stage.simulator.faults.add({ method: 'POST', path: '/v1/batches', times: 1_000, action });
  const asked = batchify(() => Promise.allSettled([ask('one')]), options);
  expect((await asked)[0]?.status).toBe('rejected');
  await until(() => types().includes('batch.failed'), 'the message');
  expect(receiver.heard.find(({ type }) => type === 'batch.failed')?.data).toMatchObject({
    model: 'gpt-5-mini',
    failure: expect.any(String),
  });
});

it('a receiver that fails delays nobody, and the next run tells it with the same id', async () => {
  receiver.answer = { status: 500 };
  const store = stage.newStore();
  const options = stage.options({ store, webhook: receiver.url });
  await batchify(() => ask('once'), options);
  expect(receiver.heard).toEqual([]);
  const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  expect(ids.size).toBeGreaterThan(0);
  receiver.answer = { status: 204 };
  // Five seconds later by the clock of the ledger, which is all that the next run knows.
  const clock = { now: () => Date.now() + 6_000, setTimeout, clearTimeout } as never;
  await batchify(() => ask('once'), { ...options, clock });
  await until(
    () => receiver.heard.some(({ id, type }) => type === 'batch.collected' && ids.has(id)),
    'the message of the run before',
  );
  const collected = receiver.heard.filter(({ type }) => type === 'batch.collected');
  expect(collected.filter(({ id }) => ids.has(id))).toHaveLength(1);
});

it('a pause that the receiver asks for as a date is kept', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
  receiver.answer = { status: 503, headers: { 'retry-after': inAnHour } };
  const options = stage.options({ webhook: receiver.url });
  await batchify(() => ask('later'), options);
  const ids = new Set(receiver.requests.map(({ headers }) => headers['webhook-id']));
  expect(ids.size).toBe(2);
  receiver.answer = { status: 204 };
  const clock = { now: () => Date.now() + 6_000, setTimeout, clearTimeout } as never;
  await batchify(() => ask('later'), { ...options, clock });
  await until(() => receiver.heard.length > 0, 'the news of the second run');
  expect(receiver.heard.filter(({ id }) => ids.has(id))).toEqual([]);
});

it('what a killed process did not deliver is delivered by collect', async () => {
  const store = stage.newStore();
  const { simulator } = stage;
  simulator.hold();
  const options = stage.options({ store, webhook: receiver.url }) as never;
  const baseURL = simulator.baseUrl('openai');
  const apiKey = 'sk-of-the-test';
  const input = { sdk: 'openai', prompts: ['red'], baseURL, apiKey, options } as const;
  const asker = await startAsker(input, { BATCHLING_WEBHOOK_SECRET: secret });
  await until(() => simulator.batches().length === 1, 'the batch');
  asker.send('SIGKILL');
  await asker.ended;
  simulator.release();
  const environment = {
    ...{ ...variablesOf(stage, store), OPENAI_API_KEY: apiKey },
    BATCHLING_WEBHOOK_SECRET: secret,
  };
  const given = ['collect', '--watch', '--webhook', receiver.url];
  const { code } = await runCli(given, { folder: stage.folder, environment });
  expect(code).toBe(0);
  expect(types()).toEqual(['batch.collected']);
});

it('run tells of its batches and of its end, by flag and variables', async () => {
  const store = stage.newStore();
  const environment = { ...variablesOf(stage, store), BATCHLING_WEBHOOK_SECRET: secret };
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const given = ['run', '--webhook', receiver.url, asking, url, '2'];
  const { code, stderr } = await runCli(given, { folder: stage.folder, environment });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await until(() => receiver.heard.length === 2, 'both messages');
  expect(types()).toEqual(['batch.collected', 'run.done']);
  const done = receiver.heard.find(({ type }) => type === 'run.done');
  expect(done?.data).toMatchObject({ command: 'run', name: 'registered.mjs', exitCode: 0 });
  const ledger = await openLedger(store);
  await ledger.close();
  const file = await readFile(store, 'latin1');
  expect(file).toContain('batch.collected');
  for (const text of [secret, secret.slice(6), 'secret-path', '127.0.0.1:']) {
    expect(file.replaceAll(stage.simulator.url, '')).not.toContain(text);
  }
});

it('that a receiver fails is said once, by the parent of a run', async () => {
  receiver.answer = { status: 500 };
  const environment = { ...variablesOf(stage), BATCHLING_WEBHOOK_SECRET: secret };
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const given = ['run', '--webhook', receiver.url, asking, url, '1'];
  const { code, stderr } = await runCli(given, { environment });
  expect(code).toBe(0);
  expect(stderr.match(/could not be told/g)).toHaveLength(1);
  expect(stderr).toMatch(/^batchling: The webhook at /);
});

it.each(['directly', 'through a proxy'])(
  'a receiver that never answers holds a finished program for moments only: %s',
  async (way) => {
    receiver.answer = undefined;
    const proxy = await startProxy();
    const environment = {
      ...variablesOf(stage),
      ...{ BATCHLING_WEBHOOK: receiver.url, BATCHLING_WEBHOOK_SECRET: secret },
      ...(way === 'directly' ? {} : { HTTP_PROXY: proxy.url }),
    };
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const running = await startCli(['run', asking, url, '1'], { environment });
    await until(() => receiver.requests.length > 0, 'a message');
    const began = performance.now();
    expect(await running.ended).toMatchObject({ code: 0 });
    // The program and its parent wait for two seconds each; an attempt may take 15.
    expect(performance.now() - began).toBeLessThan(12_000);
    expect(proxy.tunnels > 0).toBe(way !== 'directly');
    await proxy.close();
  },
);

it.each([302, 307])('a redirect (%i) is not followed', async (status) => {
  const other = await startReceiver();
  receiver.answer = { status, headers: { location: other.url } };
  await batchify(() => ask(`redirect ${status}`), stage.options({ webhook: receiver.url }));
  await until(() => receiver.requests.length > 0, 'a request');
  expect(other.requests).toEqual([]);
  await other.close();
});

it.each([
  [
    'http://169.254.169.254/latest',
    '169.254.169.254 is where a cloud tells a machine its credentials: no webhook can be there',
  ],
  ['http://[::ffff:169.254.169.254]/', '[::ffff:a9fe:a9fe] is where a cloud tells'],
  ['http://[fe80::1]/', '[fe80::1] is a link-local address: no webhook can be there'],
  ['http://93.184.216.34/', '93.184.216.34 is a public address: beyond'],
  ['https://user:password@example.com/', 'a URL with a password in it'],
  ['ftp://example.com/', 'not https'],
])('the option refuses %s', (webhook, why) => {
  expect(() => batchify({ webhook })).toThrow(why);
});

it('the option needs a secret, and shows neither it nor the URL', () => {
  vi.stubEnv('BATCHLING_WEBHOOK_SECRET', '');
  const webhook = 'https://example.com/my-secret-path';
  expect(() => batchify({ webhook })).toThrow('BATCHLING_WEBHOOK_SECRET is not set');
  expect(() => batchify({ webhook })).not.toThrow('my-secret-path');
  vi.stubEnv('BATCHLING_WEBHOOK_SECRET', 'hunter2-and-more');
  expect(() => batchify({ webhook })).toThrow(/does not hold whsec_/);
  expect(() => batchify({ webhook })).not.toThrow('hunter2');
});
