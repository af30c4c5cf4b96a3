import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { chatRequest, type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

let stage: Stage;
const gateways: GatewayProcess[] = [];

beforeEach(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
});

afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gateway) => gateway.kill()));
  await stage.close();
});

async function open(store?: string): Promise<GatewayProcess> {
  const gateway = await startGateway(stage, store === undefined ? {} : { store });
  gateways.push(gateway);
  return gateway;
}

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
  return until(() => created() === count, `${count} batches`);
}

describe('a client that gave up and asks again', () => {
  it('re-joins its request and pays once', async () => {
    const gateway = await open();
    stage.simulator.hold();
    await askAndGiveUp(gateway, 'hello');
    while ((await gateway.metric('gave_up_total')) === 0);
    const again = gateway.ask('hello');
    while ((await gateway.metric('calls_total')) < 2);
    stage.simulator.release();
    expect(await textOf(await again)).toBe('You asked: hello');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('gets the answer that came while it was away', async () => {
    const gateway = await open();
    stage.simulator.hold();
    await askAndGiveUp(gateway, 'hello');
    stage.simulator.release();
    await until(() => stage.simulator.meter.total === 1);
    const again = await gateway.ask('hello');
    expect(await textOf(again)).toBe('You asked: hello');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it.each([
    ['x-stainless-retry-count', '1'],
    ['idempotency-key', 'job-1'],
  ])(
    're-joins by %s, even if its old connection is not known to be closed',
    async (name, value) => {
      const gateway = await open();
      stage.simulator.hold();
      const keyed = name === 'idempotency-key' ? { [name]: value } : {};
      const first = gateway.ask('hello', keyed);
      await batchesAre(1);
      const second = gateway.ask('hello', { [name]: value });
      while ((await gateway.metric('calls_total')) < 2);
      stage.simulator.release();
      const answers = await Promise.all([first, second]);
      const ids = answers.map(({ headers }) => headers.get('x-batchling-request-id'));
      expect(ids[0]).toBe(ids[1]);
      expect(stage.simulator.meter.total).toBe(1);
    },
  );

  it('is the OpenAI SDK with a short timeout and its own retries', async () => {
    const gateway = await open();
    stage.simulator.hold();
    const client = gateway.openai({ timeout: 300, maxRetries: 50 });
    const asked = client.chat.completions.create({
      model: 'gpt-5-mini',
      messages: [{ role: 'user', content: 'patience' }],
    });
    while ((await gateway.metric('gave_up_total')) < 1);
    stage.simulator.release();
    expect((await asked).choices[0]?.message.content).toBe('You asked: patience');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('does so at another gateway on the same ledger', async () => {
    const store = stage.newStore();
    const [one, two] = [await open(store), await open(store)];
    stage.simulator.hold();
    await askAndGiveUp(one, 'hello');
    const again = two.ask('hello');
    while ((await two.metric('calls_total')) < 1);
    stage.simulator.release();
    expect(await textOf(await again)).toBe('You asked: hello');
    expect(stage.simulator.meter.total).toBe(1);
  });
});

describe('a gateway that is killed while clients wait', () => {
  const prompts = Array.from({ length: 20 }, (_, index) => `question ${index}`);

  it.each([
    ['for their batch', 1],
    ['in the queue', 0],
  ])('%s: each that asks again gets its own answer, and pays once', async (_, batches) => {
    const store = stage.newStore();
    const first = await startGateway(stage, {
      store,
      environment: {
        BATCHLING_WINDOW: batches === 0 ? '10m' : '50ms',
        BATCHLING_MAX_WINDOW: '10m',
      },
    });
    stage.simulator.hold();
    const asked = prompts.map((prompt) => first.ask(prompt));
    for (const one of asked) one.catch(() => undefined);
    while ((await first.metric('calls_total')) < prompts.length);
    await batchesAre(batches);
    await first.kill('SIGKILL');
    await Promise.all(asked.map((one) => expect(one).rejects.toThrow()));
    stage.simulator.release();
    const second = await open(store);
    const answers = await Promise.all(
      prompts.map(async (prompt) => textOf(await second.ask(prompt))),
    );
    expect(answers).toEqual(prompts.map((prompt) => `You asked: ${prompt}`));
    expect(stage.simulator.meter.total).toBe(prompts.length);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
  });
});
