import { describe, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { until } from '../support/until.ts';
import { providerCases } from './openai-like-cases.ts';
import { type ProviderCase, useProvider } from './provider-stage.ts';

const doubleword: ProviderCase = {
  name: 'doubleword',
  model: 'qwen-test',
  root: '/v1',
  line: (id, body) =>
    `{"custom_id":"${id}","method":"POST","url":"/v1/chat/completions","body":${body}}`,
  neverExpires: true,
};

providerCases(doubleword);

describe('what only Doubleword does', () => {
  const stage = useProvider(doubleword);
  const askOne = (prompt: string) => ask(stage.client, prompt, doubleword.model);
  const askAll = (prompts: readonly string[]) => Promise.allSettled(prompts.map(askOne));

  it('answers while the batch still runs, from where the last reading ended', async () => {
    const { simulator, client } = stage;
    simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const scope = batchify(stage.options());
    // The second has no line before the end, so the batch is not over with the first.
    const calls = ['a', '[[once status 500]]'].map((prompt) => scope.run(() => askOne(prompt)));
    expect(await calls[0]).toContain('"a"');
    const reads = () => simulator.requests.filter(({ path }) => path.endsWith('/content'));
    await until(() => reads().some(({ query }) => query.includes('offset=1')), 'a second reading');
    expect(simulator.batches().map(({ phase }) => phase)).toEqual(['in_progress']);
    // The failed line is read with the end, and tried again.
    await client.batches.cancel(simulator.batches()[0]?.id as string);
    expect(await calls[1]).toContain('[[once status 500]]');
    await scope.close();
    expect(simulator.meter.executedTwice()).toEqual([]);
  });

  it('tells the caller of a bad line alone, though the whole upload is refused', async () => {
    const { simulator } = stage;
    const scope = batchify(stage.options());
    const outcomes = await scope.run(() => askAll(['a', 'b [[invalid]]', 'c', 'd']));
    await scope.close();
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(outcomes[1]).toMatchObject({
      reason: { status: 400, message: expect.stringContaining('This line is marked as invalid.') },
    });
    expect(simulator.meter.total).toBe(3);
  });

  it('names a model that is not for this key', async () => {
    stage.simulator.configure({ models: ['another'] });
    const asked = batchify(() => askOne('a'), stage.options());
    await expect(asked).rejects.toThrow(/403 Model 'qwen-test' .* is not accessible/);
  });

  it('sends halves of what is too large', async () => {
    const { simulator } = stage;
    const action = { kind: 'status', status: 413 } as const;
    simulator.faults.add({ method: 'POST', path: '/v1/files', action });
    const outcomes = await batchify(() => askAll(['a', 'b', 'c', 'd']), stage.options());
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
    expect(simulator.batches().map(({ total }) => total)).toEqual([2, 2]);
  });

  it('tells of an empty account', async () => {
    const body = { error: { message: 'Account balance too low.' } };
    const action = { kind: 'status', status: 402, body } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
    const asked = batchify(() => askOne('a'), stage.options());
    await expect(asked).rejects.toThrow('402 Account balance too low.');
  });

  it('finds a lost create by one search for its metadata', async () => {
    const { simulator } = stage;
    simulator.configure({ foreignBatches: true });
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
    const clock = fastClock({ epoch: Date.now(), speed: 100 });
    await batchify(() => askOne('a'), stage.options({ clock, poll: '1s' }));
    const lists = simulator.requests.filter(
      ({ method, path }) => method === 'GET' && path === '/v1/batches',
    );
    expect(lists).toHaveLength(1);
    expect(lists[0]?.query).toMatch(/search=[\w-]+&limit=100$/);
    expect(simulator.meter.total).toBe(1);
  });

  it('takes a window of an hour, and tags that headers can hold', async () => {
    const given = { completionWindow: '1h', name: 'nächtlich', tags: { team: 'search' } } as const;
    await batchify(() => askOne('a'), stage.options(given));
    const [batch] = (await stage.client.batches.list()).data;
    expect(batch?.completion_window).toBe('1h');
    expect(batch?.metadata).toEqual({ team: 'search', batchling: expect.any(String) });
  });

  it('keeps endpoints and models apart, though one file could hold them all', async () => {
    const { simulator, client } = stage;
    const { model } = doubleword;
    const texts = await batchify(async () => {
      const [chat, text, response, embedding] = await Promise.all([
        askOne('chat'),
        client.completions.create({ model, prompt: 'text' }),
        client.responses.create({ model, input: 'response' }),
        client.embeddings.create({ model, input: 'embedding', encoding_format: 'float' }),
      ]);
      return [chat, text.choices[0]?.text, response.output_text, embedding.data.length];
    }, stage.options());
    expect(texts).toEqual([
      expect.stringContaining('"chat"'),
      expect.stringContaining('"text"'),
      expect.stringContaining('"response"'),
      1,
    ]);
    expect(simulator.batches()).toHaveLength(4);
    expect(simulator.meter.realtime).toBe(0);
  });
});
