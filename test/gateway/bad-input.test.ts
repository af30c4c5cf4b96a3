import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { badInputs } from './bad-input.ts';
import { outcomeOf, rawExchange } from './raw-exchange.ts';
import { type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

const page = readFileSync(new URL('../../docs/gateway.md', import.meta.url), 'utf8');
const token = { 'x-batchling-token': 'a-token' };
let stage: Stage;
let gateway: GatewayProcess;
let port: number;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  gateway = await startGateway(stage, {
    flags: [
      ...['--token', 'a-token', '--max-body', '2000', '--request-time', '500ms'],
      ...['--max-waiting', '12', '--client-connections', '60'],
    ],
  });
  port = Number(new URL(gateway.url).port);
});

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

/** How many requests wait. */
async function waitingNow(): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`, { headers: token })).text();
  return Number(/^batchling_waiting (\d+)$/m.exec(text)?.[1]);
}

describe('bad input', () => {
  it.each(badInputs)('$what: $outcome', async ({ what, pieces, pause, outcome }) => {
    const received = await rawExchange(port, pieces, pause === undefined ? {} : { pause });
    expect(outcomeOf(received)).toBe(outcome);
    expect(page, 'docs/gateway.md has a row for it').toContain(`| ${what} | ${outcome} |`);
  });

  it('a body of megabytes is refused in words, not by a reset', async () => {
    const response = await gateway.ask('a'.repeat(5_000_000), token);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_body_too_large' } });
  });

  it('is told in docs/gateway.md, and no other', () => {
    const [, bad = ''] = page.split('## Bad input');
    const rows = bad.split('\n').filter((line) => /^\| .* \| (\d{3}|closed).* \|$/.test(line));
    expect(rows).toHaveLength(badInputs.length);
  });

  it('has reached no host but the provider', () => {
    const paths = new Set(stage.simulator.requests.map(({ path }) => path.split('/')[1]));
    expect([...paths]).toEqual(['v1']);
  });
});

it('a connection that is opened for later is closed without an answer to nothing', async () => {
  expect(await rawExchange(port, [])).toBe('');
});

describe('too many', () => {
  it('requests that wait: the next one is told to come back', async () => {
    stage.simulator.hold();
    const waiting = Array.from({ length: 12 }, (_, index) => gateway.ask(`wait ${index}`, token));
    await expect.poll(waitingNow).toBe(12);
    const refused = await gateway.ask('one more', token);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({ error: { type: 'batchling_too_many_waiting' } });
    stage.simulator.release();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await gateway.ask('one more', token)).status).toBe(200);
  });

  it('connections: the next one is told so, and slow ones hold nothing else up', async () => {
    const idle: Socket[] = [];
    const open = () =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        idle.push(socket);
        socket.write('POST /openai/v1/chat/completions HTTP/1.1\r\n');
        socket.setEncoding('utf8').once('data', resolve);
        socket.on('error', () => undefined);
      });
    const told = Array.from({ length: 30 }, open);
    expect(await textOf(await gateway.ask('meanwhile', token))).toBe('You asked: meanwhile');
    // Too many by themselves: the first ones may have been told to be too slow, and be closed.
    told.push(...Array.from({ length: 61 }, open));
    const outcomes = (await Promise.all(told)).map(outcomeOf);
    expect(outcomes).toContain('429 `batchling_too_many_connections`');
    expect(outcomes).toContain('408 `batchling_too_slow`');
    for (const socket of idle) socket.destroy();
    await until(() => idle.every(({ destroyed }) => destroyed));
    expect(await textOf(await gateway.ask('afterwards', token))).toBe('You asked: afterwards');
  });
});
