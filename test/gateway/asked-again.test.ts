import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { chatRequest, type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

const store = () => stage.newStore();
let stage: Stage;
let shared: string;
let gateway: GatewayProcess;
let other: GatewayProcess;
/** What was there before the test. */
let before: { billed: number; batches: number; gaveUp: number; calls: number };

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  shared = store();
  [gateway, other] = await Promise.all([
    startGateway(stage, { store: shared }),
    startGateway(stage, { store: shared }),
  ]);
});

afterEach(() => stage.simulator.release());

afterAll(async () => {
  await Promise.all([gateway.kill(), other.kill()]);
  await stage.close();
});

async function begin(): Promise<void> {
  before = {
    billed: stage.simulator.meter.total,
    batches: stage.simulator.countRequests('POST', '/v1/batches'),
    gaveUp: await gateway.metric('gave_up_total'),
    calls: await gateway.metric('calls_total'),
  };
  stage.simulator.hold();
}

const billed = () => stage.simulator.meter.total - before.billed;

/** Asks, and closes the connection when the batch is with the provider. */
async function askAndGiveUp({ url }: GatewayProcess, content: string): Promise<void> {
  const client = new AbortController();
  const { signal } = client;
  const asked = fetch(`${url}/openai/v1/chat/completions`, { ...chatRequest(content), signal });
  asked.catch(() => undefined);
  await batchesAre(1);
  client.abort();
  await expect(asked).rejects.toThrow();
}

function batchesAre(count: number): Promise<void> {
  const created = () => stage.simulator.countRequests('POST', '/v1/batches');
  return until(() => created() - before.batches === count, `${count} batches`);
}

describe('a client that gave up and asks again', () => {
  it('re-joins its request and pays once', async () => {
    await begin();
    await askAndGiveUp(gateway, 'one');
    await gateway.reaches('gave_up_total', before.gaveUp + 1);
    const again = gateway.ask('one');
    await gateway.reaches('calls_total', before.calls + 2);
    stage.simulator.release();
    expect(await textOf(await again)).toBe('You asked: one');
    expect(billed()).toBe(1);
  });

  it('gets the answer that came while it was away', async () => {
    await begin();
    await askAndGiveUp(gateway, 'two');
    stage.simulator.release();
    await until(() => billed() === 1);
    const again = await gateway.ask('two');
    expect(await textOf(again)).toBe('You asked: two');
    expect(billed()).toBe(1);
  });

  it('before its request was sent finds that it was sent all the same', async () => {
    await begin();
    const client = new AbortController();
    const request = chatRequest('queued', { 'x-batchling-window': '300ms' });
    const url = `${gateway.url}/openai/v1/chat/completions`;
    const asked = fetch(url, { ...request, signal: client.signal });
    asked.catch(() => undefined);
    await gateway.reaches('calls_total', before.calls + 1);
    client.abort();
    await gateway.reaches('gave_up_total', before.gaveUp + 1);
    stage.simulator.release();
    await until(() => billed() === 1, 'the request of the client that is gone');
    expect(await textOf(await gateway.ask('queued'))).toBe('You asked: queued');
    expect(billed()).toBe(1);
  });

  it.each([
    ['x-stainless-retry-count', '1'],
    ['idempotency-key', 'job-1'],
  ])(
    're-joins by %s, even if its old connection is not known to be closed',
    async (name, value) => {
      await begin();
      const keyed = name === 'idempotency-key' ? { [name]: value } : {};
      const first = gateway.ask(name, keyed);
      await batchesAre(1);
      const second = gateway.ask(name, { [name]: value });
      await gateway.reaches('calls_total', before.calls + 2);
      stage.simulator.release();
      const answers = await Promise.all([first, second]);
      const ids = answers.map(({ headers }) => headers.get('x-batchling-request-id'));
      expect(ids[0]).toBe(ids[1]);
      expect(billed()).toBe(1);
    },
  );

  it('is the OpenAI SDK with a short timeout and its own retries', async () => {
    await begin();
    const client = gateway.openai({ timeout: 300, maxRetries: 50 });
    const asked = client.chat.completions.create({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: 'patience' }],
    });
    await gateway.reaches('gave_up_total', before.gaveUp + 1);
    stage.simulator.release();
    expect((await asked).choices[0]?.message.content).toBe('You asked: patience');
    expect(billed()).toBe(1);
  });

  it('does so at another gateway on the same ledger', async () => {
    await begin();
    await askAndGiveUp(gateway, 'three');
    const again = other.ask('three');
    await other.reaches('calls_total', 1);
    stage.simulator.release();
    expect(await textOf(await again)).toBe('You asked: three');
    expect(billed()).toBe(1);
  });
});

describe('a gateway that is killed while clients wait', () => {
  const prompts = Array.from({ length: 20 }, (_, index) => `question ${index}`);

  it.each([
    ['for their batch', 1],
    ['in the queue', 0],
  ])('%s: each that asks again gets its own answer, and pays once', async (_, batches) => {
    await begin();
    const path = store();
    const first = await startGateway(stage, {
      store: path,
      environment: {
        BATCHLING_WINDOW: '10m',
        BATCHLING_MAX_WINDOW: '10m',
        // One batch, however long after each other they arrive.
        ...(batches === 1 && { BATCHLING_BATCH_SIZE: String(prompts.length) }),
      },
    });
    const asked = prompts.map((prompt) => first.ask(prompt));
    for (const one of asked) one.catch(() => undefined);
    await first.reaches('calls_total', prompts.length);
    await batchesAre(batches);
    await first.kill('SIGKILL');
    await Promise.all(asked.map((one) => expect(one).rejects.toThrow()));
    stage.simulator.release();
    const second = await startGateway(stage, { store: path });
    const answers = await Promise.all(
      prompts.map(async (prompt) => textOf(await second.ask(prompt))),
    );
    expect(answers).toEqual(prompts.map((prompt) => `You asked: ${prompt}`));
    expect(billed()).toBe(prompts.length);
    await second.kill();
  });
});
