import { describe, expect, it } from 'vitest';
import type { Route } from '../batcher.ts';
import {
  type BatcherSubject,
  callOf,
  failureOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { OpenRouterBatcher } from './openrouter-batcher.ts';

const batcher = new OpenRouterBatcher();
const subject: BatcherSubject = {
  batcher,
  path: '/chat/completions',
  body: (content) => ({ model: 'google/gemini-test', messages: [{ role: 'user', content }] }),
  requests: { create: '/api/beta/batches', results: /^\/api\/beta\/batches\/[^/]+$/ },
};

function matchOf(more: object, path = subject.path, headers = {}) {
  const body = JSON.stringify({ ...subject.body('a'), ...more });
  return batcher.match(callOf({ ...subject, path, headers }, body));
}

describe('a call that cannot be batched at OpenRouter', () => {
  const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } };
  const inContent = (part: object, role = 'user') => ({ messages: [{ role, content: [part] }] });

  it.each([
    ['an image in a message', inContent(image), '/chat/completions', 'text only'],
    ['a document', inContent({ type: 'document', source: {} }), '/messages', 'text only'],
    [
      'an image in the result of a tool',
      inContent({ type: 'tool_result', content: [{ type: 'image', source: {} }] }),
      '/messages',
      'text only',
    ],
    [
      'a file in an item of a response',
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      '/responses',
      'text only',
    ],
    [
      'an image in the output of a function',
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image' }] }] },
      '/responses',
      'text only',
    ],
    ['an image to embed', { input: [{ content: [image] }] }, '/embeddings', 'text only'],
    ['speech as its answer', { modalities: ['text', 'audio'] }, '/chat/completions', 'of text'],
    ['an image as its answer', { image_config: {} }, '/chat/completions', 'answers of text'],
    ['fallback models', { models: ['a/b', 'c/d'] }, '/chat/completions', 'one model'],
    [
      'a preference about privacy',
      { provider: { only: ['openai'], data_collection: 'deny' } },
      '/chat/completions',
      'provider.data_collection',
    ],
    ['a response in the background', { background: true }, '/responses', 'asynchronous'],
    ['embeddings as a stream', { input: 'a', stream: true }, '/embeddings', 'no streamed'],
  ])('has %s', (_what, more, path, reason) => {
    expect(matchOf(more, path)).toEqual({ bypass: expect.stringContaining(reason) });
  });

  it('asks for a beta of Anthropic by a header', () => {
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' };
    expect(matchOf({ max_tokens: 9 }, '/messages', headers)).toMatchObject({ bypass: /.*/ });
  });
});

describe('a call that can be batched', () => {
  it.each([
    { messages: [{ role: 'user', content: [{ type: 'text', text: '{"type":"image"}' }] }] },
    { modalities: ['text'], provider: null, models: [], audio: null },
    { metadata: { type: 'document' } },
    { input: ['one', 'two'] },
    { input: [[1, 2], [3]] },
  ])('may hold %j', (more) => {
    expect(matchOf(more, 'input' in more ? '/embeddings' : subject.path)).toHaveProperty('model');
  });

  it('shares a batch with calls that allow the same providers, and is not mistaken for others', () => {
    const [pinned, same, other, free] = [['a'], ['a'], ['b'], undefined].map(
      (only) => matchOf({ provider: { only } }) as Route,
    );
    expect(pinned?.batchHeaders).toEqual(same?.batchHeaders);
    expect(pinned?.batchHeaders).not.toEqual(other?.batchHeaders);
    expect(free?.batchHeaders).toEqual({});
    expect(pinned?.body).toBe(free?.body);
    expect(new Set([pinned, same, other, free].map((one) => String(one?.identity))).size).toBe(3);
  });

  it('of a model of Google shares a batch with calls for the same format only', () => {
    const partitionOf = (more: object) => (matchOf(more) as Route).partition;
    const schema = (name: string) => ({ type: 'json_schema', json_schema: { name } });
    const [one, same, other, none] = [schema('a'), schema('a'), schema('b'), undefined].map(
      (response_format) => partitionOf({ response_format }),
    );
    expect(one).toBeDefined();
    expect(one).toBe(same);
    expect(one).not.toBe(other);
    expect(none).toBeUndefined();
    expect(partitionOf({ model: 'openai/gpt-test', response_format: schema('a') })).toBe(undefined);
  });
});

describe('a create', () => {
  it('names endpoint, model and providers before its requests, beside the version of calls', async () => {
    const { simulator, wire } = await openBench(subject);
    const plan = planOf(subject, ['one']);
    const route = matchOf({ provider: { only: ['google-vertex'] } }) as Route;
    let sent = '';
    const recorded: typeof wire = {
      ...wire,
      async send(request) {
        const { body } = request;
        if (typeof body === 'object' && 'chunks' in body) {
          for await (const chunk of body.chunks()) sent += Buffer.from(chunk).toString();
        }
        return wire.send(request);
      },
    };
    await batcher.create(recorded, { ...plan, route }, {});
    const { body } = routeOf(subject, JSON.stringify(subject.body('one')));
    expect(sent).toMatch(
      /^\{"endpoint":"\/v1\/chat\/completions","model":"google\/gemini-test","provider":\{"only":\["google-vertex"\]\},"requests":\[\{"custom_id":/,
    );
    expect(sent.endsWith(`"body":${body}}]}`)).toBe(true);
    expect(simulator.countRequests('POST', '/api/beta/batches')).toBe(1);
  });

  it('for a model without batches is refused in the words of OpenRouter', async () => {
    const { simulator, wire } = await openBench(subject);
    simulator.configure({ models: ['another/model'] });
    const error = await failureOf(batcher.create(wire, planOf(subject, ['a']), {}));
    expect(error).toMatchObject({ failure: { next: 'fail', answer: { status: 400 } } });
    expect(String(error)).toContain('does not have a :batch endpoint');
  });
});

describe('a batch', () => {
  it('that failed because of one request, which is named by its id, is worth halves', async () => {
    const { send, ended } = await openBench(subject);
    const { plan, remote } = await send(['fine', '[[invalid]]']);
    const { failure } = await ended(remote, plan);
    expect(failure).toMatchObject({ next: 'smaller', answer: { status: 400 } });
    expect(failure?.message).toContain('marked as invalid');
  });

  it('cannot be cancelled, and the error says what was tried', async () => {
    const { wire, send } = await openBench(subject);
    const { remote } = await send(['one']);
    expect(await failureOf(batcher.cancel(wire, remote))).toMatchObject({ status: 404 });
  });

  it('is polled without its results being kept, and read to the last of many', async () => {
    const { send, ended, rows } = await openBench(subject);
    const prompts = Array.from({ length: 300 }, (_, index) => `prompt ${index}`);
    const { plan, remote } = await send(prompts);
    const last = await ended(remote, plan);
    expect(JSON.stringify(last)).not.toContain('prompt');
    expect(await rows(last)).toHaveLength(300);
  });

  it('that ended early has no results, and is not taken for one that cannot be read', async () => {
    const { simulator, send, ended } = await openBench(subject);
    simulator.faults.nextBatch({ outcome: 'cancelled' });
    const { plan, remote } = await send(['a', 'b']);
    const last = await ended(remote, plan);
    const shown = { raw: 'cancelled', unfinished: 'cancelled', readable: false };
    expect(last).toMatchObject({ ...shown, counts: { completed: 1 } });
  });

  it('shows its results a little later than its end, and is waited for', async () => {
    const { simulator, wire, send, ended, rows } = await openBench(subject);
    simulator.faults.nextBatch({ lateFiles: 2 });
    const { plan, handle, remote } = await send(['a']);
    await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
    for await (const seen of batcher.poll(wire, [{ id: remote.id, count: 1, handle }])) {
      expect(seen).toMatchObject({ state: 'ended', incomplete: true });
    }
    expect(await rows(await ended(remote, plan))).toHaveLength(1);
  });
});

describe('usage', () => {
  const openai = { usage: { prompt_tokens: 7, completion_tokens: 5, cost: 0.25 } };
  const message = { type: 'message', usage: { input_tokens: 7, output_tokens: 5 } };

  it('is read in the words of either wire, with what was billed', () => {
    expect(batcher.usage(openai)).toMatchObject({ inputTokens: 7, outputTokens: 5, billed: 0.25 });
    expect(batcher.usage(message)).toMatchObject({ inputTokens: 7, outputTokens: 5 });
    expect(batcher.usage({})).toBeUndefined();
  });

  it('with a key of the user at the provider does not take the fee for the price', () => {
    const own = { usage: { ...openai.usage, is_byok: true } };
    expect(batcher.usage(own)).not.toHaveProperty('billed');
    const told = { usage: { ...own.usage, cost_details: { upstream_inference_cost: 4 } } };
    expect(batcher.usage(told)).toMatchObject({ billed: 4.25 });
  });
});
