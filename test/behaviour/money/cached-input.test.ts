import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BatchifyOptions,
  type BatchlingEvents,
  batchify,
  type ProviderName,
} from '../../../src/index.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { summaryLine } from '../../../src/report/text/summary.ts';

import { openStage, type Stage } from '../../support/stage.ts';

const million = 1_000_000;
/** Dollars per million tokens on the list. */
const sonnet = { input: 3, cacheWrite: 3.75, cacheWrite1h: 6, cacheRead: 0.3, output: 15 };

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Where a call of each provider goes, below its base, and how it names itself. */
const wires: Readonly<Record<string, (model: string) => [path: string, body: object]>> = {
  anthropic: (model) => ['/v1/messages', { model, max_tokens: 64 }],
  mistral: (model) => ['/v1/chat/completions', { model }],
  google: (model) => [`/v1beta/models/${model}:generateContent`, {}],
};

const question = (provider: string, text: string) =>
  provider === 'google'
    ? { contents: [{ role: 'user', parts: [{ text }] }] }
    : { messages: [{ role: 'user', content: text }] };

interface Asked {
  readonly provider: ProviderName;
  readonly model: string;
  readonly calls?: number;
  readonly options?: BatchifyOptions;
  /** Further members of the bodies. */
  readonly more?: object;
}

/** Asks all at once by plain HTTP, and tells what the scope, its events and the ledger say it has cost. */
async function askFor({ provider, model, calls = 1, options, more }: Asked) {
  const { simulator } = stage;
  const store = stage.newStore();
  const base = simulator.baseUrl(provider);
  const scope = batchify(stage.options({ hosts: { [base]: provider }, store, ...options }));
  const events: BatchlingEvents['call:answered'][] = [];
  scope.on('call:answered', (event) => events.push(event));
  const [path, body] = wires[provider]?.(model) ?? ['/chat/completions', { model }];
  const headers = {
    'content-type': 'application/json',
    ...{ authorization: 'Bearer sk-1', 'x-api-key': 'sk-1', 'x-goog-api-key': 'sk-1' },
    'anthropic-version': '2023-06-01',
  };
  const send = async (text: string) => {
    const init = JSON.stringify({ ...body, ...question(provider, text), ...more });
    const response = await fetch(`${base}${path}`, { method: 'POST', headers, body: init });
    await response.text();
    return response.status;
  };
  const texts = Array.from({ length: calls }, (_, index) => `question ${index}`);
  const statuses = await scope.run(() => Promise.all(texts.map(send)));
  await scope.close();
  const ledger = await openLedger(store);
  const batches = await ledger.list();
  await ledger.close();
  return { statuses, stats: scope.stats, events, batches };
}

function answerWith(answer: object): void {
  stage.simulator.configure({ answer: () => ({ ...answer }) });
}

const message = (usage: object) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [],
  usage: { input_tokens: 0, output_tokens: 0, ...usage },
});
const completion = (usage: object) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{}],
  usage,
});

describe('what Anthropic has cached', () => {
  const written = { input_tokens: 12, cache_creation_input_tokens: 100_000, output_tokens: 40 };
  const each = (12 * sonnet.input + 100_000 * sonnet.cacheWrite + 40 * sonnet.output) / million / 2;

  it('is paid for when it is written: the same figure is everywhere', async () => {
    answerWith(message(written));
    const { stats, events, batches } = await askFor({
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      calls: 40,
    });
    expect(stats.dollars.paid).toBeCloseTo(40 * each, 9);
    expect(stats.dollars.paid).toBeCloseTo(7.51, 2);
    expect(stats.dollars.saved).toBeCloseTo(40 * each, 9);
    expect(stats.tokens).toEqual({
      input: 40 * 100_012,
      output: 40 * 40,
      cacheRead: 0,
      cacheWrite: 4_000_000,
    });
    expect(summaryLine(stats)).toContain('saved $7.51 (50%), paid $7.51');
    expect(events).toHaveLength(40);
    for (const { dollars } of events) expect(dollars?.paid).toBeCloseTo(each, 9);
    expect(batches[0]?.cost?.paid).toBeCloseTo(40 * each, 9);
    expect(batches[0]?.cost?.inputTokens).toBe(40 * 100_012);
  });

  it('counts against the budget as soon as it is known', async () => {
    answerWith(message(written));
    const { simulator } = stage;
    const scope = batchify(stage.options({ budget: 0.3, hosts: stage.hosts }));
    const client = stage.anthropic({ maxRetries: 0 });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const messages = [{ role: 'user' as const, content: `round ${round}` }];
      const asked = scope.run(() =>
        client.messages.create({ model: 'claude-sonnet-4-6', max_tokens: 64, messages }),
      );
      statuses.push(
        await asked.then(
          () => 200,
          (error: { status: number }) => error.status,
        ),
      );
    }
    await scope.close();
    expect(statuses).toEqual([200, 200, 402, 402]);
    expect(scope.stats.dollars.paid).toBeCloseTo(2 * each, 9);
    expect(simulator.meter.total).toBe(2);
  });

  it.each([
    ['5m', 0.19, 0.17],
    ['1h', 0.31, 0.28],
  ])(
    'is estimated at the price of a write for %s, where it is asked for',
    async (ttl, enough, little) => {
      // 400,000 letters are about 100,000 tokens: $0.15 in a batch as input, $0.1875 and $0.30 as a write.
      const text = 'long '.repeat(80_000);
      const system = [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl } }];
      const ask = (budget: number) =>
        askFor({
          ...{ provider: 'anthropic', model: 'claude-sonnet-4-5', more: { system } },
          options: { budget },
        });
      expect((await ask(little)).statuses).toEqual([402]);
      expect(stage.simulator.meter.total).toBe(0);
      expect((await ask(enough)).statuses).toEqual([200]);
    },
  );

  it('is estimated as a write up to the last mark only', async () => {
    const text = 'long '.repeat(80_000);
    const mark = { cache_control: { type: 'ephemeral' } };
    const system = [
      { type: 'text', text: 'Short.', ...mark },
      { type: 'text', text },
    ];
    const { statuses } = await askFor({
      ...{ provider: 'anthropic', model: 'claude-sonnet-4-5', more: { system } },
      options: { budget: 0.17 },
    });
    expect(statuses).toEqual([200]);
  });
});

describe('what OpenAI caches by itself', () => {
  it('is estimated at the price of a write, unless the request says what is cached', async () => {
    // About 100,000 tokens: $0.01 in a batch as input, $0.0125 as a write.
    const messages = [{ role: 'user', content: 'long '.repeat(80_000) }];
    const ask = async (more: object) => {
      const model = 'gpt-5.6-luna';
      const sent = { max_tokens: 1, messages, ...more };
      const asked = { provider: 'openai', model, more: sent, options: { budget: 0.011 } } as const;
      return (await askFor(asked)).statuses;
    };
    expect(await ask({})).toEqual([402]);
    expect(await ask({ prompt_cache_options: { mode: 'explicit' } })).toEqual([200]);
  });
});

describe('each kind of input and output has its price', () => {
  it.each<[string, Asked, object, { paid: number; list: number }]>([
    [
      'an hour in the cache, reads of it and searches, which have no discount',
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      message({
        cache_read_input_tokens: 40_000,
        cache_creation_input_tokens: 10_000,
        cache_creation: { ephemeral_5m_input_tokens: 4_000, ephemeral_1h_input_tokens: 6_000 },
        server_tool_use: { web_search_requests: 3 },
      }),
      { list: 0.012 + 0.015 + 0.036 + 0.03, paid: (0.012 + 0.015 + 0.036) / 2 + 0.03 },
    ],
    [
      'inference inside of the United States',
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      message({ input_tokens: 100_000, inference_geo: 'us' }),
      { list: 0.33, paid: 0.165 },
    ],
    [
      'long input at the higher rates',
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
      message({ input_tokens: 1, cache_read_input_tokens: 200_000, output_tokens: 1_000 }),
      { list: 0.120006 + 0.0225, paid: (0.120006 + 0.0225) / 2 },
    ],
    [
      'cached input of GPT-5, which is discounted in a batch',
      { provider: 'openai', model: 'gpt-5' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 90_000 },
        completion_tokens: 0,
      }),
      { list: 0.0125 + 0.01125, paid: (0.0125 + 0.01125) / 2 },
    ],
    [
      'cached input of GPT-4o, for which a batch has no rate',
      { provider: 'openai', model: 'gpt-4o' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 90_000 },
        completion_tokens: 0,
      }),
      { list: 0.025 + 0.1125, paid: 0.125 },
    ],
    [
      'cached input of o4-mini, for which a batch has no rate either',
      { provider: 'openai', model: 'o4-mini' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 90_000 },
        completion_tokens: 0,
      }),
      { list: 0.011 + 0.02475, paid: 0.055 },
    ],
    [
      'cached input of Mistral, which is discounted, and is named by another word',
      { provider: 'mistral', model: 'mistral-medium-latest' },
      completion({ prompt_tokens: 100_000, num_cached_tokens: 90_000, completion_tokens: 0 }),
      { list: 0.015 + 0.0135, paid: (0.015 + 0.0135) / 2 },
    ],
    [
      'all kinds at Moonshot, whose batches cost 0.6 of the list',
      { provider: 'moonshot', model: 'kimi-k2.5' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 50_000 },
        completion_tokens: 10_000,
      }),
      { list: 0.03 + 0.005 + 0.03, paid: 0.6 * (0.03 + 0.005 + 0.03) },
    ],
    [
      'reads that cost a twentieth of the input',
      { provider: 'anthropic', model: 'claude-opus-5-5' },
      message({ input_tokens: 10_000, cache_read_input_tokens: 90_000 }),
      { list: 0.04 + 0.018, paid: (0.04 + 0.018) / 2 },
    ],
    [
      'what GPT-5.6 has written to its cache',
      { provider: 'openai', model: 'gpt-5.6-luna' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 100_000 },
        completion_tokens: 0,
      }),
      { list: 0.025, paid: 0.0125 },
    ],
    [
      'cached input of Gemini, which costs the same in a batch',
      { provider: 'google', model: 'gemini-2.5-flash' },
      { usageMetadata: { promptTokenCount: 100_000, cachedContentTokenCount: 90_000 } },
      { list: 0.003 + 0.0027, paid: 0.003 / 2 + 0.0027 },
    ],
    [
      'long input of Gemini at the higher rates, with thoughts and what its tools have read',
      { provider: 'google', model: 'gemini-2.5-pro' },
      {
        usageMetadata: {
          promptTokenCount: 200_000,
          toolUsePromptTokenCount: 50_000,
          cachedContentTokenCount: 150_000,
          candidatesTokenCount: 1_000,
          thoughtsTokenCount: 3_000,
        },
      },
      { list: 0.25 + 0.0375 + 0.06, paid: (0.25 + 0.06) / 2 + 0.0375 },
    ],
    [
      'cached input of the Gemini models with a discount for it',
      { provider: 'google', model: 'gemini-3.1-flash-lite' },
      { usageMetadata: { promptTokenCount: 100_000, cachedContentTokenCount: 90_000 } },
      { list: 0.0025 + 0.00225, paid: (0.0025 + 0.00225) / 2 },
    ],
    [
      'speech',
      { provider: 'google', model: 'gemini-2.5-flash' },
      {
        usageMetadata: {
          promptTokenCount: 10_000,
          promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 10_000 }],
        },
      },
      { list: 0.01, paid: 0.005 },
    ],
    [
      'an image that was made',
      { provider: 'google', model: 'gemini-2.5-flash-image' },
      {
        usageMetadata: {
          candidatesTokenCount: 1_290,
          candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
        },
      },
      { list: 0.0387, paid: 0.01935 },
    ],
    [
      'cached input of Groq, for which a batch has no rate',
      { provider: 'groq', model: 'moonshotai/kimi-k2-instruct-0905' },
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 100_000 },
        completion_tokens: 0,
      }),
      { list: 0.05, paid: 0.05 },
    ],
    [
      'what xAI says that it has billed',
      { provider: 'xai', model: 'grok-4.3' },
      completion({
        ...{ prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 },
        cost_in_usd_ticks: 420_000_000,
      }),
      { list: 0.125, paid: 0.042 },
    ],
  ])('%s', async (_name, asked, answer, { paid, list }) => {
    answerWith(answer);
    const batched = await askFor(asked);
    expect(batched.stats.dollars.paid).toBeCloseTo(paid, 9);
    expect(batched.stats.dollars.saved).toBeCloseTo(list - paid, 9);
    const realtime = await askFor({ ...asked, options: { minBatch: 2 } });
    const billed = asked.provider === 'xai' ? paid : list;
    expect(realtime.stats.dollars).toMatchObject({ saved: 0 });
    expect(realtime.stats.dollars.realtime).toBeCloseTo(billed, 9);
  });

  it('as the user says, where the user says it', async () => {
    answerWith(
      completion({
        prompt_tokens: 100_000,
        prompt_tokens_details: { cached_tokens: 90_000 },
        completion_tokens: 0,
      }),
    );
    const ask = async (price: { input: number; cacheRead?: number }) => {
      const providers = { openai: { prices: { 'house-*': price } } };
      const model = 'house-model';
      return (await askFor({ provider: 'openai', model, options: { providers } })).stats.dollars;
    };
    expect((await ask({ input: 2 })).paid).toBeCloseTo(0.1, 9);
    expect((await ask({ input: 2, cacheRead: 0.2 })).paid).toBeCloseTo(0.019, 9);
  });
});
