import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ModelPrice } from './model-price.ts';
import { loadPrices } from './price-list.ts';

const batch = { priceShare: 0.5 };
const million = { inputTokens: 1_000_000, outputTokens: 0 };

describe('the price of a model', () => {
  beforeAll(loadPrices);
  afterEach(() => vi.useRealTimers());

  it('changes on the day on which the list changes it', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2025-06-09T12:00:00Z') });
    const price = new ModelPrice({ name: 'openai' }, 'o3');
    expect(price.charge(million)?.paid).toBeCloseTo(10);
    vi.setSystemTime(new Date('2025-06-10T12:00:00Z'));
    expect(price.charge(million)?.paid).toBeCloseTo(2);
  });

  it.each([
    ['nothing', { inputTokens: 0, outputTokens: 0 }],
    ['more read than there was', { inputTokens: 1, outputTokens: 0, cacheReadTokens: 1_000 }],
    ['an hour only', { inputTokens: 1_000, outputTokens: 0, cacheWrite1hTokens: 1_000 }],
    ['more speech than there was', { inputTokens: 1, outputTokens: 1, inputAudioTokens: 9 }],
  ])('is never below zero, and never an error: %s', (_name, usage) => {
    for (const model of ['gpt-4o-mini', 'gpt-audio', 'gpt-5.4', 'no-such-model']) {
      const price = new ModelPrice({ name: 'openai' }, model);
      expect(price.charge(usage, batch)?.paid ?? 0).toBeGreaterThanOrEqual(0);
    }
  });

  it('counts an image that came out of the cache once', () => {
    const price = new ModelPrice({ name: 'openai' }, 'gpt-5-mini');
    const read = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 950_000 };
    const plain = price.charge(read)?.paid ?? 0;
    expect(plain).toBeCloseTo(0.05 * 0.25 + 0.95 * 0.025, 12);
    expect(price.charge({ ...read, inputImageTokens: 900_000 })?.paid).toBeCloseTo(plain, 12);
  });

  it('of a kind that is not listed is that of plain input or output', () => {
    const price = new ModelPrice({ name: 'openai' }, 'gpt-3.5-turbo');
    const plain = price.charge(million)?.paid;
    for (const kind of ['cacheReadTokens', 'cacheWriteTokens', 'inputAudioTokens']) {
      expect(price.charge({ ...million, [kind]: 1_000_000 })?.paid).toBeCloseTo(plain ?? 0, 12);
    }
  });

  it('of an hour in the cache is 1.6 times that of minutes, where only that is listed', () => {
    const price = new ModelPrice({ name: 'vertex', priceListName: 'google' }, 'claude-sonnet-4-5');
    const write = price.charge({ ...million, inputTokens: 1_000, cacheWriteTokens: 1_000 });
    const hour = price.charge({ ...million, inputTokens: 1_000, cacheWrite1hTokens: 1_000 });
    expect((hour?.paid ?? 0) / (write?.paid ?? 0)).toBeCloseTo(1.6);
  });

  it('is what was billed, where that is said, also for a model that is not listed', () => {
    const usage = { ...million, billed: 0.05 };
    expect(new ModelPrice({ name: 'xai' }, 'no-such-model').charge(usage, batch)).toEqual({
      paid: 0.05,
      saved: 0,
    });
  });

  it('by the page or the hour is not known by the token, and a free model costs nothing', () => {
    expect(new ModelPrice({ name: 'openai' }, 'whisper-1').charge(million)).toBeUndefined();
    expect(new ModelPrice({ name: 'google' }, 'gemma-3').charge(million)).toEqual({
      paid: 0,
      saved: 0,
    });
  });
});
