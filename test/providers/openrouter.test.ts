import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { allOf } from '../support/all-of.ts';
import { ask } from '../support/ask.ts';
import { startRecordingProxy } from '../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  stage = await openStage();
  const baseURL = stage.simulator.baseUrl('openrouter');
  openai = new OpenAI({ apiKey: 'sk-or-test', baseURL, maxRetries: 0 });
  const root = baseURL.replace(/\/v1$/, '');
  anthropic = new Anthropic({
    authToken: 'sk-or-test',
    apiKey: null,
    baseURL: root,
    maxRetries: 0,
  });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  const hosts = { [stage.simulator.baseUrl('openrouter')]: 'openrouter' } as const;
  return stage.options({ hosts, bypass: 'error', ...given });
}

const create = '/api/beta/batches';
const model = 'openai/gpt-4o-mini';
const claude = 'anthropic/claude-opus-5';
const say = (content: string) => ask(openai, content, model);
const messages = (content: string) => [{ role: 'user' as const, content }];

function settled(prompts: readonly string[], given?: BatchifyOptions) {
  return batchify(() => Promise.allSettled(prompts.map(say)), options(given));
}

describe('calls through the batches of OpenRouter', () => {
  it('are answered in their own shapes, as streams where these were asked for', async () => {
    const [chat, chunks, response, events, message, told] = await batchify(
      () =>
        Promise.all([
          say('one'),
          openai.chat.completions
            .create({ model, messages: messages('two'), stream: true })
            .then(allOf),
          openai.responses.create({ model, input: 'three' }),
          openai.responses.create({ model, input: 'four', stream: true }).then(allOf),
          anthropic.messages.create({ model: claude, max_tokens: 64, messages: messages('five') }),
          anthropic.messages
            .stream({ model: claude, max_tokens: 64, messages: messages('six') })
            .finalText(),
        ]),
      options(),
    );
    expect(chat).toContain('answer to "one"');
    const streamed = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(streamed).toContain('answer to "two"');
    expect(response.output_text).toContain('answer to "three"');
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(JSON.stringify(message.content)).toContain('answer to');
    expect(told).toContain('answer to "six"');
    expect(stage.simulator.batches().map(({ requests }) => requests)).toEqual([2, 2, 2]);
    expect(stage.simulator.meter).toMatchObject({ batched: 6, realtime: 0 });
  });

  it.each([
    [400, OpenAI.BadRequestError, Anthropic.BadRequestError],
    [401, OpenAI.AuthenticationError, Anthropic.AuthenticationError],
    [404, OpenAI.NotFoundError, Anthropic.NotFoundError],
    [429, OpenAI.RateLimitError, Anthropic.RateLimitError],
    [500, OpenAI.InternalServerError, Anthropic.InternalServerError],
  ])('that fail with %i raise the class of their SDK', async (status, ofOpenAI, ofAnthropic) => {
    const prompt = `[[status ${status}]]`;
    const outcomes = await batchify(
      () =>
        Promise.allSettled([
          say(prompt),
          anthropic.messages.create({ model: claude, max_tokens: 9, messages: messages(prompt) }),
        ]),
      options({ attempts: 1 }),
    );
    for (const [at, type] of [ofOpenAI, ofAnthropic].entries()) {
      const { reason } = outcomes[at] as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(type);
      expect(reason.message).toContain(`simulated status ${status}`);
    }
  });

  it('go out as they are where a batch cannot take them, with the reason', async () => {
    const scope = batchify(options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    const url = 'https://a.example/b.png';
    const content = [{ type: 'image_url' as const, image_url: { url } }];
    await scope.run(() =>
      openai.chat.completions.create({ model, messages: [{ role: 'user', content }] }),
    );
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('batches take text only')]);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });
});

it.each([
  ['the providers that it allows', { provider: { only: ['openai'] }, messages: messages('a') }],
  [
    'preferences, fallbacks and images, which no batch takes',
    {
      provider: { order: ['openai'], only: ['openai'] },
      models: [model],
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'a' } }] }],
    },
  ],
])('a call in the realtime lane keeps %s', async (_, given) => {
  const proxy = await startRecordingProxy(stage.simulator.url);
  const base = `${proxy.url}/openrouter/api/v1`;
  const body = JSON.stringify({ ...given, model });
  const headers = { authorization: 'Bearer sk-or-test', 'content-type': 'application/json' };
  const scope = batchify(options({ hosts: { [base]: 'openrouter' }, lane: 'realtime' }));
  const response = await scope.run(() =>
    fetch(`${base}/chat/completions`, { method: 'POST', headers, body }),
  );
  await scope.close();
  await proxy.close();
  expect(response.status).toBe(200);
  expect(JSON.parse(proxy.requests[0]?.body ?? '')).toEqual(JSON.parse(body));
  expect(scope.stats).toMatchObject({ realtime: 1, bypassed: 0 });
});

describe('a batch of OpenRouter', () => {
  it('whose create was lost is found among those of strangers, and nothing runs twice', async () => {
    stage.simulator.configure({ foreignBatches: true });
    stage.simulator.faults.add({ method: 'POST', path: create, action: { kind: 'lost' } });
    expect(await batchify(() => Promise.all(['a', 'b'].map(say)), options())).toHaveLength(2);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.countRequests('POST', create)).toBe(1);
  });

  it('that is not to be seen right after its create is waited for', async () => {
    const action = { kind: 'status', status: 404 } as const;
    const path = /^\/api\/beta\/batches\/[^/]+$/;
    stage.simulator.faults.add({ method: 'GET', path, action, times: 3 });
    expect(await sayAlone(options())).toContain('answer to "a"');
    expect(stage.simulator.countRequests('POST', create)).toBe(1);
  });

  it('goes on after its scope was cancelled, for there is no way to stop it', async () => {
    stage.simulator.hold();
    const scope = batchify(options());
    const calls = Promise.allSettled(['a', 'b'].map((prompt) => scope.run(() => say(prompt))));
    await until(() => stage.simulator.batches()[0]?.phase === 'in_progress', 'the batch');
    await scope.cancel();
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await scope.close();
    expect(stage.simulator.countRequests('POST', /\/cancel$/)).toBeGreaterThan(0);
    stage.simulator.release();
    await until(() => stage.simulator.batches()[0]?.phase === 'ended', 'the end of the batch');
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('with one bad request is sent again in halves, without it in the end', async () => {
    const outcomes = await settled(['a', '[[invalid]]', 'c', 'd']);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    const { reason } = outcomes[1] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
    expect(reason.message).toContain('marked as invalid');
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('of a model without batches tells its callers why', async () => {
    stage.simulator.configure({ models: ['another/model'] });
    for (const outcome of await settled(['a', 'b'])) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
      expect(reason.message).toContain('does not have a :batch endpoint');
    }
    expect(stage.simulator.countRequests('POST', create)).toBe(1);
  });

  it('asks for its own paths only, with the key in its header', async () => {
    await sayAlone(options());
    const [batch] = stage.simulator.batches();
    const asked = stage.simulator.requests.map(({ method, path }) =>
      `${method} ${path}`.replace(batch?.id ?? '', ':id'),
    );
    expect(new Set(asked)).toEqual(
      new Set(['GET /api/beta/batches', 'POST /api/beta/batches', 'GET /api/beta/batches/:id']),
    );
    for (const { headers } of stage.simulator.requests) {
      expect(headers.authorization).toBe('REDACTED');
    }
  });
});

function sayAlone(given: BatchifyOptions) {
  return batchify(() => say('a'), given);
}
