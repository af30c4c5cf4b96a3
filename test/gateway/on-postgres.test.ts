import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { usePostgres } from '../../src/ledger/postgres/test/temporary.test-helper.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import {
  chatBody,
  chatRequest,
  type GatewayProcess,
  startGateway,
  textOf,
} from './start-gateway.ts';

const { newStore, query, schemaOf } = usePostgres();
let stage: Stage;
let store: string;
let one: GatewayProcess;
let other: GatewayProcess;
let billedBefore = 0;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  const made = newStore();
  // A statement may last for half of a lease, which is not enough to make a schema.
  await (await openLedger(made)).close();
  // A killed gateway is known to be gone when its lease ends.
  store = `${made}&lease=2s`;
  one = await startGateway(stage, { store });
  other = await startGateway(stage, { store });
});

afterEach(() => stage.simulator.release());

afterAll(async () => {
  await Promise.all([one.kill(), other.kill()]);
  await stage.close();
});

function begin(): void {
  billedBefore = stage.simulator.meter.total;
  stage.simulator.hold();
}

const billed = () => stage.simulator.meter.total - billedBefore;

/** Runs it, and waits until that has made a batch. */
async function untilSent<T>(ask: () => T): Promise<T> {
  const created = stage.simulator.countRequests('POST', '/v1/batches');
  const asked = ask();
  await until(() => stage.simulator.countRequests('POST', '/v1/batches') > created, 'a batch');
  return asked;
}

describe('gateways on one database', () => {
  it('know a request of each other that a client asks for again', async () => {
    begin();
    const client = new AbortController();
    const request = { ...chatRequest('here and there'), signal: client.signal };
    const asked = await untilSent(() => {
      const given = fetch(`${one.url}/openai/v1/chat/completions`, request);
      given.catch(() => undefined);
      return { given };
    });
    client.abort();
    await expect(asked.given).rejects.toThrow();
    const again = other.ask('here and there');
    await other.reaches('calls_total', 1);
    stage.simulator.release();
    expect(await textOf(await again)).toBe('You asked: here and there');
    expect(billed()).toBe(1);
  });

  it('go on with what a killed one has left', async () => {
    begin();
    const third = await startGateway(stage, { store });
    const prompts = Array.from({ length: 10 }, (_, index) => `of the third: ${index}`);
    await untilSent(() => {
      for (const prompt of prompts) third.ask(prompt).catch(() => undefined);
    });
    await third.kill('SIGKILL');
    stage.simulator.release();
    const answers = await Promise.all(prompts.map(async (text) => textOf(await other.ask(text))));
    expect(answers).toEqual(prompts.map((prompt) => `You asked: ${prompt}`));
    expect(billed()).toBe(prompts.length);
  });

  it('answer for each other where nobody holds a connection', async () => {
    begin();
    const fourth = await startGateway(stage, { store });
    const accepted = await untilSent(() => fourth.ask('later', { prefer: 'respond-async' }));
    const place = `${other.url}${(await accepted).headers.get('location')}`;
    await fourth.kill('SIGKILL');
    stage.simulator.release();
    const look = (key: string) => fetch(place, { headers: { authorization: `Bearer ${key}` } });
    expect((await look('sk-other')).status).toBe(404);
    let answer = await look('sk-client');
    while (answer.status === 202) answer = await look('sk-client');
    expect(await textOf(answer)).toBe('You asked: later');
    expect(billed()).toBe(1);
  });
});

describe('a call that the database cannot store', () => {
  const askFor = (gateway: GatewayProcess, content: string, more: object, key = 'sk-client') =>
    fetch(`${gateway.url}/openai/v1/chat/completions`, {
      ...chatRequest('', { authorization: `Bearer ${key}` }),
      body: chatBody(content, more),
    });

  it('is refused by itself, and calls beside it are answered', async () => {
    const prompts = Array.from({ length: 30 }, (_, index) => `beside: ${index}`);
    const odd = ['gpt\u0000mini', 'gpt\ud800mini', 'gpt'.repeat(1_000)];
    const refusals = Promise.all(odd.map((model) => askFor(one, 'odd', { model }, 'sk-odd')));
    const answers = prompts.map(async (prompt) => textOf(await askFor(one, prompt, {})));
    expect(await Promise.all(answers)).toEqual(prompts.map((prompt) => `You asked: ${prompt}`));
    for (const refusal of await refusals) {
      expect(refusal.status).toBe(400);
      const { error } = (await refusal.json()) as { error: { message: string } };
      expect(error.message).toMatch(/^The call cannot be batched: its model has /);
      expect(error.message.length).toBeLessThan(200);
    }
  });

  it('gets no address of the database, which the log has', async () => {
    const own = newStore();
    const gateway = await startGateway(stage, { store: own });
    await query(`ALTER TABLE ${schemaOf(own)}.request RENAME TO request_gone`);
    const refusal = await gateway.ask('nowhere to store');
    expect(refusal.status).toBe(500);
    const text = await refusal.text();
    expect(text).toContain('The ledger of the gateway cannot be used.');
    const { host, port, pathname } = new URL(own);
    for (const secret of [host, port, pathname, schemaOf(own)]) expect(text).not.toContain(secret);
    const { stderr } = await gateway.kill();
    expect(stderr).toContain(`The ledger postgres://${host}${pathname}`);
  });
});
