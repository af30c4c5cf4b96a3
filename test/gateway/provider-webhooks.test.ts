import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { type GatewayProcess, startGateway } from './start-gateway.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const environment = {
  ...{ OPENAI_WEBHOOK_SECRET: secret, GEMINI_WEBHOOK_SECRET: secret },
  BATCHLING_POLL: '1h',
};

let stage: Stage;
let gateway: GatewayProcess;
beforeAll(async () => {
  stage = await openStage();
  const google = stage.simulator.baseUrl('google');
  const hosts = `${variablesOf(stage).BATCHLING_HOSTS},${google}=google`;
  gateway = await startGateway(stage, {
    environment: { ...environment, BATCHLING_HOSTS: hosts },
    flags: ['--public-url', 'https://batches.example/'],
  });
});
afterAll(async () => {
  await gateway.kill();
  await stage.close();
});
beforeEach(() => stage.simulator.reset());
afterEach(() => stage.simulator.configure({ webhook: null }));

const url = (provider = 'openai') => `${gateway.url}/webhooks/${provider}`;

/** A message as the `standardwebhooks` package signs it. */
function signed(body: string, { id = crypto.randomUUID(), at = new Date(), by = secret } = {}) {
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign(id, at, body),
  };
}

async function post(
  body: string,
  headers: Record<string, string>,
  provider?: string,
): Promise<number> {
  const response = await fetch(url(provider), { method: 'POST', headers, body });
  await response.text();
  return response.status;
}

const event = (id: string) => JSON.stringify({ type: 'batch.completed', data: { id } });

it('a batch is looked at when its provider says that it is over, and not an hour later', async () => {
  stage.simulator.configure({ webhook: { url: url(), secret } });
  const response = await gateway.ask('told by a webhook');
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('answer to');
});

it('a message is a hint and no state: what it says of a batch that runs is not believed', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asked = gateway.ask('not yet');
  await until(() => simulator.batches().length === 1, 'the batch');
  const batch = simulator.batches()[0]?.id ?? '';
  const polls = () => simulator.countRequests('GET', /^\/v1\/batches/);
  const before = polls();
  await expect
    .poll(() => post(event(batch), signed(event(batch))).then(() => polls()))
    .toBeGreaterThan(before);
  simulator.release();
  stage.simulator.configure({ webhook: { url: url(), secret } });
  await until(() => simulator.batches()[0]?.phase === 'ended', 'the end');
  expect(await post(event(batch), signed(event(batch)))).toBe(200);
  expect((await asked).status).toBe(200);
});

it('a message that comes again is answered, and makes no second poll', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asked = gateway.ask('told twice');
  await until(() => simulator.batches().length === 1, 'the batch');
  const body = event(simulator.batches()[0]?.id ?? '');
  const polls = () => simulator.countRequests('GET', /^\/v1\/batches/);
  const once = signed(body);
  expect(await post(body, once)).toBe(200);
  await until(() => polls() === 1, 'the poll');
  for (let times = 0; times < 20; times += 1) expect(await post(body, once)).toBe(200);
  expect(await post(body, signed(body))).toBe(200);
  await until(() => polls() >= 2, 'the poll of a new message');
  expect(polls()).toBe(2);
  simulator.release();
  await until(() => simulator.batches()[0]?.phase === 'ended', 'the end');
  expect(await post(body, signed(body))).toBe(200);
  expect((await asked).status).toBe(200);
});

it('a batch of Gemini is looked at when Google says that it is over', async () => {
  const { simulator } = stage;
  const asked = fetch(`${gateway.url}/google/v1beta/models/gemini-2.5-flash:generateContent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': 'key-of-google' },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'told by Google' }] }] }),
  });
  await until(() => simulator.batches()[0]?.phase === 'ended', 'the end');
  const body = JSON.stringify({
    type: 'batch.succeeded',
    data: { id: simulator.batches()[0]?.id },
  });
  expect(await post(body, signed(body), 'google')).toBe(200);
  const response = await asked;
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('candidates');
});

it('only what is signed, with this secret, now, is taken', async () => {
  const body = event('batch_1');
  expect(await post(body, signed(body))).toBe(200);
  const other = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
  const minute = 60_000;
  for (const headers of [
    {},
    signed(body, { by: other }),
    signed(event('batch_2')),
    signed(body, { at: new Date(Date.now() - 6 * minute) }),
    signed(body, { at: new Date(Date.now() + 6 * minute) }),
    { ...signed(body), 'webhook-id': 'another' },
  ]) {
    expect(await post(body, headers as Record<string, string>)).toBe(401);
  }
  const large = JSON.stringify({ type: 'batch.completed', filler: 'x'.repeat(100_000) });
  expect(await post(large, signed(large))).toBe(413);
  const google = await fetch(`${gateway.url}/webhooks/anthropic`, { method: 'POST' });
  expect(google.status).toBe(404);
});

it('nothing is taken for a secret without a key: everybody could sign with it', async () => {
  const unset = { ...environment, OPENAI_WEBHOOK_SECRET: 'whsec_…' };
  const careless = await startGateway(stage, { environment: unset });
  const body = event('batch_1');
  const headers = signed(body);
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const forged = createHmac('sha256', '').update(text).digest('base64');
  const response = await fetch(`${careless.url}/webhooks/openai`, {
    method: 'POST',
    headers: { ...headers, 'webhook-signature': `v1,${forged}` },
    body,
  });
  expect(response.status).toBe(401);
  expect(await response.text()).toContain('holds no key');
  await careless.kill();
});

it('what the simulator sends is what the SDK of OpenAI verifies', async () => {
  const heard: { body: string; headers: Record<string, string> }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    heard.push({ body, headers: request.headers as Record<string, string> });
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  stage.simulator.configure({ webhook: { url: `http://127.0.0.1:${port}`, secret } });
  const asked = gateway.ask('heard elsewhere');
  await until(() => heard.length === 1, 'the event');
  const { webhooks } = new OpenAI({ apiKey: 'sk-test', webhookSecret: secret });
  const { body, headers } = heard[0] ?? { body: '', headers: {} };
  const batch = stage.simulator.batches()[0]?.id ?? '';
  expect(await webhooks.unwrap(body, headers)).toMatchObject({
    type: 'batch.completed',
    data: { id: batch },
  });
  // The gateway was not told by anybody yet.
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const sent = Object.fromEntries(names.map((name) => [name, headers[name] ?? '']));
  expect(await post(body, sent)).toBe(200);
  expect((await asked).status).toBe(200);
  server.close();
});

it('tokens of Google are taken if Google signed them, for this receiver', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' };
  const asked: (string | undefined)[] = [];
  const service = createServer((request, response) => {
    asked.push(request.url);
    response.end(JSON.stringify({ keys: [jwk] }));
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  const google = `http://127.0.0.1:${port}/v1beta`;
  const receiver = await startGateway(stage, {
    environment: { BATCHLING_HOSTS: `${google}=google`, GEMINI_WEBHOOK_SECRET: '' },
    flags: ['--public-url', 'https://batches.example/here'],
  });
  const send = async (head: object, claims: object, key = privateKey) => {
    const parts = [head, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signature = createSign('RSA-SHA256').update(parts.join('.')).sign(key, 'base64url');
    const headers = {
      ...signed(''),
      'webhook-signature': [...parts, signature].join('.'),
    };
    const body = JSON.stringify(claims);
    const url = `${receiver.url}/webhooks/google`;
    const response = await fetch(url, { method: 'POST', headers, body });
    return { status: response.status, text: await response.text() };
  };
  const head = { alg: 'RS256', kid: 'one' };
  const claims = { type: 'batch.succeeded', data: { id: 'batch_1' } };
  for (const aud of [
    undefined,
    'https://batches.example/here/webhooks/google',
    ['https://other.example/hook', 'https://batches.example'],
    `http://127.0.0.1:${port}/`,
    '1234.apps.googleusercontent.com',
  ]) {
    expect(await send(head, { ...claims, aud }), String(aud)).toMatchObject({ status: 200 });
  }
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const elsewhere = { ...claims, aud: 'https://other.example/webhooks/google' };
  for (const refused of [
    await send(head, claims, other),
    await send({ ...head, alg: 'none' }, claims),
    await send({ ...head, kid: 'unknown' }, claims),
    await send(head, { ...claims, exp: 1 }),
    await send(head, elsewhere),
    await send(head, { ...claims, aud: 'https://batches.example.evil.example/' }),
  ]) {
    expect(refused.status).toBe(401);
  }
  expect((await send(head, elsewhere)).text).toContain('made for another receiver');
  // A message with an unknown key does not make us ask again at once.
  expect(asked).toEqual(['/.well-known/jwks.json']);
  await receiver.kill();
  service.close();
});
