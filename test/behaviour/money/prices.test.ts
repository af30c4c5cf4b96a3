import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInInfos } from '../../../src/batchers/registry.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { ModelPrice } from '../../../src/pricing/model-price.ts';
import { loadPrices } from '../../../src/pricing/price-list.ts';
import type { Usage } from '../../../src/pricing/usage.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

/** A model of each provider whose prices are listed. */
const listed = {
  openai: 'gpt-4o-mini',
  azure: 'gpt-4o-mini',
  groq: 'llama-3.3-70b-versatile',
  together: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
  mistral: 'mistral-small-latest',
  xai: 'grok-3',
  doubleword: 'Qwen/Qwen3-14B-FP8',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  vertex: 'gemini-2.5-flash',
  moonshot: 'kimi-k2-0905-preview',
  zhipu: 'glm-4-plus',
  novita: 'deepseek/deepseek-r1',
  openrouter: 'openai/gpt-4o-mini',
  voyage: 'voyage-3-large',
  ovhcloud: 'Llama-3.1-8B-Instruct',
  perplexity: 'sonar',
  fireworks: 'accounts/fireworks/models/gpt-oss-20b',
  bedrock: 'amazon.nova-lite-v1:0',
};
/** Providers of which the list knows nothing: users give prices themselves. */
const unlisted = [
  'sference',
  'deepinfra',
  'nebius',
  'parasail',
  'siliconflow',
  'dashscope',
  'qianfan',
];
const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
const priceOf = (name: string, model: string, of: Usage) =>
  new ModelPrice(builtInInfos.find((info) => info.name === name) ?? { name }, model).charge(of)
    ?.paid;

describe('list prices', () => {
  beforeAll(loadPrices);

  it('are known for every built-in provider, or known to be unknown', () => {
    const names = builtInInfos.map(({ name }) => name).sort();
    expect([...Object.keys(listed), ...unlisted].sort()).toEqual(names);
  });

  it.each(Object.entries(listed))('of %s are found', (provider, model) => {
    expect(priceOf(provider, model, usage)).toBeGreaterThan(0);
  });

  it.each(unlisted)('of %s are not made up', (provider) => {
    expect(priceOf(provider, 'gpt-4o-mini', usage)).toBeUndefined();
  });

  it('are not taken from a provider whose name is only similar', () => {
    expect(priceOf('my-openai', 'gpt-4o-mini', usage)).toBeUndefined();
    expect(priceOf('openai', 'no-such-model', usage)).toBeUndefined();
  });

  it('of embeddings have no output', () => {
    const price = priceOf('openai', 'text-embedding-3-small', { ...usage, outputTokens: 0 });
    expect(price).toBeCloseTo(0.02);
  });

  it('of long requests may be others', () => {
    const price = (inputTokens: number) =>
      priceOf('google', 'gemini-2.5-pro', { inputTokens, outputTokens: 0 }) as number;
    expect(price(1_000_000)).toBeGreaterThan(10 * price(100_000));
  });
});

describe('prices that the user gives', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  async function paidFor(prices: unknown, given: BatchifyOptions = {}) {
    const store = stage.newStore();
    const providers = { openai: { prices } } as NonNullable<BatchifyOptions['providers']>;
    const scope = batchify(stage.options({ store, providers, ...given }));
    await scope.run(() => ask(stage.openai(), 'what does it cost?', 'house-model-7b'));
    await scope.close();
    const ledger = await openLedger(store);
    const [batch] = await ledger.list();
    await ledger.close();
    return { stats: scope.stats, batch };
  }

  it('count for models that the list does not know, and are stored with the batch', async () => {
    const { stats, batch } = await paidFor({ 'house-*': { input: 4, output: 8 } });
    const { input, output } = stats.tokens;
    const listPrice = (input * 4 + output * 8) / 1_000_000;
    expect(listPrice).toBeGreaterThan(0);
    expect(stats.dollars.paid).toBeCloseTo(listPrice / 2, 12);
    expect(batch?.cost).toEqual({
      estimate: expect.any(Number),
      paid: stats.dollars.paid,
      saved: stats.dollars.saved,
      inputTokens: input,
      outputTokens: output,
    });
  });

  it('are the first that fit', async () => {
    const { stats } = await paidFor({
      'other-*': { input: 1, output: 1 },
      'house-model-*': { input: 2, output: 0 },
      '*': { input: 400, output: 400 },
    });
    expect(stats.dollars.paid).toBeCloseTo(stats.tokens.input / 1_000_000, 12);
  });

  it('count for realtime calls, without a discount', async () => {
    const { stats } = await paidFor({ '*': { input: 2 } }, { minBatch: 10 });
    expect(stats.dollars.realtime).toBeCloseTo((stats.tokens.input * 2) / 1_000_000, 12);
  });

  it('without them only tokens are known', async () => {
    const { stats, batch } = await paidFor({});
    expect(stats.dollars.paid).toBe(0);
    expect(batch?.cost).toEqual({
      inputTokens: stats.tokens.input,
      outputTokens: stats.tokens.output,
    });
  });

  it.each([5, { m: 5 }, { m: { input: -1 } }, { m: { output: 1 } }, { m: { input: 1, out: 2 } }])(
    '%j is refused',
    (prices) => {
      const providers = { openai: { prices } } as NonNullable<BatchifyOptions['providers']>;
      expect(() => batchify({ providers })).toThrow(
        expect.objectContaining({
          code: 'INVALID_OPTION',
          message: expect.stringContaining('dollars'),
        }),
      );
    },
  );
});
