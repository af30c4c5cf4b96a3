import { describe, expect, it } from 'vitest';
import {
  type BatcherSubject,
  callOf,
  failureOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { PerplexityBatcher } from './perplexity-batcher.ts';

const batcher = new PerplexityBatcher();
const subject: BatcherSubject = {
  batcher,
  path: '/agent',
  body: (prompt) => ({ model: 'test-model', input: prompt }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
};

describe('a request to an agent', () => {
  it.each([
    ['a model', { model: 'openai/gpt-5' }, 'openai/gpt-5'],
    ['a preset', { preset: 'pro-search' }, 'pro-search'],
    ['a chain of models', { models: ['a/b', 'c/d'], model: 'e/f' }, 'a/b'],
  ])('that names %s has its line as it was written', (_what, names, model) => {
    const body = JSON.stringify({ ...names, input: 'hello' });
    for (const path of ['/agent', '/responses']) {
      expect(routeOf({ ...subject, path }, body)).toMatchObject({
        endpoint: '/v1/agent',
        model,
        body,
      });
    }
  });

  it('that names nothing goes out as it is', () => {
    expect(batcher.match(callOf(subject, '{"input":"hello"}'))).toHaveProperty('bypass');
  });

  it('costs what its answer says, tools included, with what the cache took and gave', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cache_read_input_tokens: 40, cache_creation_input_tokens: 10 },
      output_tokens: 5,
      total_tokens: 105,
      cost: { currency: 'USD', input_cost: 0.01, output_cost: 0.02, total_cost: 0.05 },
    };
    expect(batcher.usage({ usage })).toMatchObject({
      inputTokens: 100,
      outputTokens: 5,
      cacheReadTokens: 40,
      cacheWriteTokens: 10,
      billed: 0.05,
    });
    expect(batcher.usage({})).toBeUndefined();
  });
});

describe('a batch of Perplexity', () => {
  it('is created once, however often its create is repeated', async () => {
    const { simulator, wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['one', 'two']);
    const handle = await batcher.stage(wire, plan);
    strike('create', { kind: 'status', status: 502, accept: true });
    await failureOf(batcher.create(wire, plan, handle));
    const remote = await batcher.create(wire, plan, handle);
    expect((await batcher.create(wire, plan, handle)).id).toBe(remote.id);
    expect(simulator.batches()).toMatchObject([{ id: remote.id, requests: 2 }]);
  });

  it('is another one with another token', async () => {
    const { simulator, send } = await openBench(subject);
    await send(['one']);
    await send(['two']);
    expect(simulator.batches()).toHaveLength(2);
  });

  it('loses the line that its upload names, and no other', async () => {
    const { wire } = await openBench(subject);
    const plan = planOf(subject, ['one', '[[invalid]]']);
    const error = await failureOf(batcher.stage(wire, plan));
    expect(error).toMatchObject({ failure: { next: 'isolate', bad: [{ line: 2 }] } });
  });
});
