import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { rawExchange } from './raw-exchange.ts';
import { chatBody, type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  gateway = await startGateway(stage, { flags: ['--heartbeat', '40ms'] });
});

afterEach(() => stage.simulator.release());

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

const path = '/openai/v1/chat/completions';
const usual = [
  'host: localhost',
  'authorization: Bearer sk-client',
  'content-type: application/json',
];

function request(content: string, headers: readonly string[] = []): string {
  const body = chatBody(content);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return [`POST ${path} HTTP/1.1`, ...usual, ...headers, length, '', body].join('\r\n');
}

function port({ url } = gateway): number {
  return Number(new URL(url).port);
}

async function callsAre(count: number): Promise<void> {
  while ((await gateway.metric('calls_total')) < count);
}

it('a stream that has begun to wait goes on as a stream when its call goes out after all', async () => {
  stage.simulator.hold();
  const realtime = stage.simulator.meter.realtime;
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-client',
      'content-type': 'application/json',
      'x-batchling-deadline': '300ms',
      'x-batchling-on-deadline': 'realtime',
    },
    body: chatBody('late stream', { stream: true }),
  });
  const text = await response.text();
  expect(text).toMatch(/^: waiting\n/);
  expect(text).toContain('data: [DONE]');
  expect(stage.simulator.meter.realtime - realtime).toBe(1);
});

it('an error of a call that goes out after all is told inside of its stream', async () => {
  stage.simulator.hold();
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-client',
      'content-type': 'application/json',
      'x-batchling-deadline': '300ms',
      'x-batchling-on-deadline': 'realtime',
    },
    body: chatBody('[[status 400 bad_thing]]', { stream: true }),
  });
  const text = await response.text();
  expect(text).toMatch(/^: waiting\n/);
  expect(text).toMatch(/\ndata: \{"error":.*\}\n\n$/);
});

it('a token that nobody has proved stands for itself alone, whatever it says of its owner', async () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const says = `${part({ alg: 'RS256' })}.${part({ iss: 'login', sub: 'somebody' })}`;
  const ask = (signature: string) =>
    gateway.ask('a secret', { authorization: `Bearer ${says}.${signature}` });
  const own = await ask('genuine');
  const forged = await ask('forged');
  const [one, two] = [own, forged].map(({ headers }) => headers.get('x-batchling-request-id'));
  expect(one).not.toBe(two);
  const keys = stage.simulator.meter.executions.slice(-2).map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
});

it("an offer to speak HTTP/2, as Java's HttpClient makes it, is not taken up", async () => {
  const offer = [
    'connection: Upgrade, HTTP2-Settings',
    'upgrade: h2c',
    'http2-settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
  ];
  expect(await rawExchange(port(), [request('from Java', offer)])).toContain(
    'You asked: from Java',
  );
});

it.each(['?', "?note='a'"])('a query %j is no trick', async (query) => {
  const line = `GET /openai/v1/batches${query} HTTP/1.1`;
  const received = await rawExchange(port(), [[line, ...usual, '', ''].join('\r\n')]);
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
});

it('requests that stand one behind another on a connection are given up together', async () => {
  stage.simulator.hold();
  const billed = stage.simulator.meter.total;
  const calls = await gateway.metric('calls_total');
  const socket = connect(port(), '127.0.0.1');
  socket.write(request('in front') + request('behind'));
  await callsAre(calls + 2);
  const gaveUp = await gateway.metric('gave_up_total');
  socket.destroy();
  while ((await gateway.metric('gave_up_total')) < gaveUp + 1);
  const again = ['in front', 'behind'].map((content) => gateway.ask(content));
  await callsAre(calls + 4);
  stage.simulator.release();
  const texts = await Promise.all(again.map(async (one) => textOf(await one)));
  expect(texts).toEqual(['You asked: in front', 'You asked: behind']);
  expect(stage.simulator.meter.total - billed).toBe(2);
});

it('a client of a named run that says it asks again gets the answer that it has missed', async () => {
  const billed = stage.simulator.meter.total;
  const run = { 'x-batchling-run': 'monday' };
  const first = await gateway.ask('once', run);
  const again = await gateway.ask('once', { ...run, 'x-stainless-retry-count': '1' });
  const another = await gateway.ask('once', run);
  const ids = [first, again, another].map(({ headers }) => headers.get('x-batchling-request-id'));
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(stage.simulator.meter.total - billed).toBe(2);
});

describe('Prefer: respond-async', () => {
  const later = { prefer: 'respond-async' };
  const credential = { authorization: 'Bearer sk-client' };

  it('asked twice with one idempotency key is ended by one DELETE', async () => {
    const asked = { ...later, 'x-batchling-window': '10m', 'idempotency-key': 'twice' };
    const [one, two] = [await gateway.ask('ended', asked), await gateway.ask('ended', asked)];
    const location = one.headers.get('location') as string;
    expect(two.headers.get('location')).toBe(location);
    expect(await gateway.metric('waiting')).toBe(2);
    await fetch(`${gateway.url}${location}`, { headers: credential, method: 'DELETE' });
    while ((await gateway.metric('waiting')) > 0);
    expect((await fetch(`${gateway.url}${location}`, { headers: credential })).status).toBe(499);
  });

  it('is refused where headers are too long to be told in an id', async () => {
    const billed = stage.simulator.meter.total;
    const refused = await gateway.ask('long', { ...later, 'x-note': 'a'.repeat(14_000) });
    expect(refused.status).toBe(431);
    await gateway.ask('afterwards');
    expect(stage.simulator.meter.total - billed).toBe(1);
  });

  it.each(['x-proxy-token', 'api-key', 'cookie', 'x-forwarded-user'])(
    'at a configured host, the header %s is part of the credential',
    async (secret) => {
      const store = stage.newStore();
      const environment = { BATCHLING_WINDOW: '10m', BATCHLING_MAX_WINDOW: '10m' };
      const first = await startGateway(stage, { store, environment });
      const own = { ...credential, [secret]: 'mine' };
      const asked = await first.ask('by proxy', { ...later, ...own, 'x-note': 'a note' });
      const location = asked.headers.get('location') as string;
      await first.kill();
      const second = await startGateway(stage, { store });
      const look = (headers: Record<string, string>) =>
        fetch(`${second.url}${location}`, { headers });
      expect((await look({ ...credential, [secret]: 'other' })).status).toBe(404);
      expect((await look(credential)).status).toBe(404);
      let answer = await look(own);
      while (answer.status === 202) answer = await look(own);
      expect(await textOf(answer)).toBe('You asked: by proxy');
      await second.kill();
    },
  );
});

describe('a gateway that is stopped', () => {
  it('tells those to come back whose request is still arriving', async () => {
    const stopped = await startGateway(stage);
    const text = request('half');
    const socket = connect(port(stopped), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      received += piece;
    });
    socket.on('error', () => undefined);
    socket.write(text.slice(0, -10));
    while ((await stopped.metric('waiting')) < 1);
    const ended = stopped.kill('SIGTERM');
    while ((await fetch(`${stopped.url}/healthz`).catch(() => undefined))?.status === 200);
    socket.write(text.slice(-10));
    await until(() => received !== '' || socket.closed);
    expect(received).toMatch(/^HTTP\/1\.1 503 /);
    expect(await ended).toMatchObject({ code: 0 });
  });

  it('lets calls that it passes through come to their end', async () => {
    const stopped = await startGateway(stage);
    stage.simulator.faults.add({
      method: 'GET',
      path: '/v1/batches',
      times: 1,
      action: { kind: 'delay', ms: 300 },
    });
    const seen = stage.simulator.countRequests('GET', '/v1/batches');
    const asked = fetch(`${stopped.url}/openai/v1/batches`, {
      headers: { authorization: 'Bearer sk-client' },
    });
    await until(() => stage.simulator.countRequests('GET', '/v1/batches') > seen);
    const ended = stopped.kill('SIGTERM');
    expect((await asked).status).toBe(200);
    expect(await ended).toMatchObject({ code: 0 });
  });
});
