import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { chatBody, type GatewayProcess, startGateway, textOf } from './start-gateway.ts';

let stage: Stage;
let gateway: GatewayProcess;

beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
  gateway = await startGateway(stage);
});

afterAll(async () => {
  await gateway.kill();
  await stage.close();
});

describe('a call by way of the gateway', () => {
  it('of the OpenAI SDK is answered from a batch, each client with its own answer', async () => {
    const client = gateway.openai();
    const before = stage.simulator.countRequests('POST', '/v1/batches');
    // They share a batch, however long after each other they arrive.
    const headers = { 'x-batchling-window': '10m', 'x-batchling-batch-size': '3' };
    const answers = await Promise.all(
      ['a', 'b', 'c'].map(async (content) => {
        const { data, response } = await client.chat.completions
          .create({ model: 'gpt-5-mini', messages: [{ role: 'user', content }] }, { headers })
          .withResponse();
        return [data.choices[0]?.message.content, response.headers.get('x-batchling-source')];
      }),
    );
    expect(answers).toEqual(['a', 'b', 'c'].map((text) => [`You asked: ${text}`, 'batch']));
    expect(stage.simulator.countRequests('POST', '/v1/batches') - before).toBe(1);
  });

  it('of the Anthropic SDK is answered from a batch', async () => {
    const answer = await gateway.anthropic().messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'hello' }],
    });
    expect(answer.content[0]).toMatchObject({ type: 'text', text: 'You asked: hello' });
  });

  it('that cannot be batched is passed through and counted', async () => {
    const before = await gateway.metric('bypassed_total');
    const response = await fetch(`${gateway.url}/openai/v1/batches?limit=1`, {
      headers: { authorization: 'Bearer sk-client' },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ object: 'list' });
    const off = await gateway.ask('off', { 'x-batchling': 'off' });
    expect([await textOf(off), off.headers.get('x-batchling-source')]).toEqual([
      'You asked: off',
      'realtime',
    ]);
    expect((await gateway.metric('bypassed_total')) - before).toBe(2);
  });

  it('that is passed through has the length of its own body, also where the headers are those of another', async () => {
    for (const content of ['short', 'a longer one']) {
      await (await gateway.ask(content, { 'x-batchling': 'off' })).text();
      const { headers } = stage.simulator.requests.at(-1)!;
      expect(headers['content-length']).toBe(String(chatBody(content).length));
    }
  });

  it('does not reach the provider with headers of ours', async () => {
    await gateway.ask('mine', { 'x-batchling': 'off', 'x-batchling-name': 'job', prefer: 'x' });
    const { headers } = stage.simulator.requests.at(-1)!;
    expect(Object.keys(headers).filter((name) => /batchling|prefer/.test(name))).toEqual([]);
    expect(headers).toHaveProperty('authorization');
  });

  it('takes the lane that its header names', async () => {
    const { meter } = stage.simulator;
    const before = meter.countByTier().get('flex') ?? 0;
    const response = await gateway.ask('by flex', { 'x-batchling-lane': 'flex' });
    expect(response.headers.get('x-batchling-source')).toBe('flex');
    expect((meter.countByTier().get('flex') ?? 0) - before).toBe(1);
  });

  it('has the options that its headers name', async () => {
    const slow = gateway.ask('late', {
      'x-batchling-window': '24h',
      'x-batchling-deadline': '30ms',
    });
    const response = await slow;
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_deadline' } });
  });

  it.each([
    ['x-batchling-store', 'x.db', 'x-batchling-store is not known'],
    ['x-batchling-window', 'soon', 'window'],
    ['x-batchling-cache', 'no', 'true or false'],
    ['x-batchling-run', 'a b', 'letters, digits'],
    ['x-batchling-heartbeat', '103', '102, 100, none'],
    ['x-batchling', 'on', 'off'],
  ])('with the header %s: %s is refused', async (name, value, said) => {
    const response = await gateway.ask('bad', { [name]: value });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe('batchling_bad_header');
    expect(error.message).toContain(said);
  });
});

describe('identical calls', () => {
  it('of a named run are samples one after another', async () => {
    const run = (name: string) => gateway.ask('again', { 'x-batchling-run': name });
    const [first, second] = [await run('one'), await run('one')];
    expect(second.headers.get('x-batchling-source')).toBe('batch');
    const other = [await run('two'), await run('two')];
    const id = ({ headers }: Response) => headers.get('x-batchling-request-id');
    expect(other.map(id)).toEqual([id(first), id(second)]);
    expect(other.map(({ headers }) => headers.get('x-batchling-source'))).toEqual([
      'ledger',
      'ledger',
    ]);
  });

  it('of a run that wants fresh answers are asked anew, once', async () => {
    await gateway.ask('fresh');
    const fresh = { 'x-batchling-cache': 'false', 'x-batchling-run': 'three' };
    const response = await gateway.ask('fresh', fresh);
    expect(response.headers.get('x-batchling-source')).toBe('batch');
  });

  it('that want fresh answers without naming a run are asked anew each time', async () => {
    await gateway.ask('newest');
    const fresh = () => gateway.ask('newest', { 'x-batchling-cache': 'false' });
    const answers = [await fresh(), await fresh()];
    const sources = answers.map(({ headers }) => headers.get('x-batchling-source'));
    expect(sources).toEqual(['batch', 'batch']);
  });

  it('of another credential get answers of their own', async () => {
    await gateway.ask('private');
    const other = await gateway.ask('private', { authorization: 'Bearer sk-other' });
    expect(other.headers.get('x-batchling-source')).toBe('batch');
  });
});

it('says how it is', async () => {
  const health = await fetch(`${gateway.url}/healthz`);
  expect([health.status, await health.json()]).toEqual([200, { status: 'serving' }]);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(
    /# HELP batchling_calls_total .+\n# TYPE batchling_calls_total counter\n/,
  );
  // A counter must not fall, and a batch may cost more than ordinary calls.
  expect(metrics).toContain('\n# TYPE batchling_dollars_saved_total gauge\n');
  for (const name of ['waiting', 'tokens_total{kind="input"}', 'dollars_saved_total'])
    expect(metrics).toContain(`\nbatchling_${name} `);
  expect(await gateway.metric('calls_total')).toBeGreaterThan(0);
  expect(await gateway.metric('waiting')).toBe(0);
  expect(await gateway.metric('poll_errors_total')).toBe(0);
});

it('passes an error of the provider on, and asks no SDK to try again', async () => {
  const response = await gateway.ask('[[status 400 bad_thing]]');
  expect(response.status).toBe(400);
  expect(response.headers.get('x-should-retry')).toBe('false');
});
