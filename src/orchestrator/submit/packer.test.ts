import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { AnthropicBatcher } from '../../batchers/anthropic/anthropic-batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { type PackLimits, pack, type Weight } from './packer.ts';

interface Sized extends Weight {
  readonly name: number;
}

const frames = [new OpenAIBatcher(), new AnthropicBatcher()].map(
  (batcher) => (count: number) => batcher.frameBytes(count),
);

const items = fc
  .array(
    fc.record({
      bytes: fc.nat({ max: 60 }),
      tokens: fc.nat({ max: 60 }),
      units: fc.integer({ min: 1, max: 60 }),
    }),
    { maxLength: 60 },
  )
  .map((weights) => weights.map((weight, name): Sized => ({ name, ...weight })));

const limits: fc.Arbitrary<PackLimits> = fc.record({
  items: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 1, max: 200 }),
  itemBytes: fc.integer({ min: 0, max: 60 }),
  tokens: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(Number.POSITIVE_INFINITY)),
  units: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(Number.POSITIVE_INFINITY)),
  frameBytes: fc.constantFrom(() => 0, ...frames),
});

const wide: PackLimits = {
  items: 10,
  bytes: 100,
  itemBytes: 100,
  tokens: 1_000,
  units: 1_000,
  frameBytes: () => 0,
};

function sum(batch: readonly Sized[], of: keyof Weight = 'bytes'): number {
  return batch.reduce((total, item) => total + item[of], 0);
}

describe('pack', () => {
  it('drops nothing, doubles nothing and moves nothing', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        const { batches, tooLarge } = pack(all, limit);
        const refused = new Set(tooLarge);
        expect(batches.flat()).toEqual(all.filter((item) => !refused.has(item)));
        expect(tooLarge).toEqual(all.filter((item) => refused.has(item)));
      }),
    );
  });

  it('keeps every limit, and leaves no batch empty', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        for (const batch of pack(all, limit).batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(limit.items);
          expect(sum(batch) + limit.frameBytes(batch.length)).toBeLessThanOrEqual(limit.bytes);
          for (const item of batch) expect(item.bytes).toBeLessThanOrEqual(limit.itemBytes);
          expect(sum(batch, 'units')).toBeLessThanOrEqual(limit.units);
          if (batch.length > 1) expect(sum(batch, 'tokens')).toBeLessThanOrEqual(limit.tokens);
        }
      }),
    );
  });

  it('refuses only what could not be sent alone', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        for (const { bytes, units } of pack(all, limit).tooLarge) {
          const alone = bytes + limit.frameBytes(1);
          const isTooLong = bytes > limit.itemBytes || alone > limit.bytes;
          expect(isTooLong || units > limit.units).toBe(true);
        }
      }),
    );
  });

  it('begins a new batch only when the next item does not fit', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        const { batches } = pack(all, limit);
        batches.slice(1).forEach((batch, index) => {
          const before = batches[index] as readonly Sized[];
          const joined = [...before, batch[0] as Sized];
          const bytes = sum(joined) + limit.frameBytes(joined.length);
          const tokens = sum(joined, 'tokens');
          const full = joined.length > limit.items || bytes > limit.bytes || tokens > limit.tokens;
          expect(full || sum(joined, 'units') > limit.units).toBe(true);
        });
      }),
    );
  });

  it('fills a batch to the last byte, frame included', () => {
    const frameBytes = (count: number) => count;
    const limit = { ...wide, bytes: 22, itemBytes: 10, frameBytes };
    const sizes = [10, 10, 10, 9, 1].map((bytes) => ({ bytes, tokens: 0, units: 1 }));
    const { batches } = pack(sizes, limit);
    expect(batches.map((batch) => batch.map(({ bytes }) => bytes))).toEqual([
      [10, 10],
      [10, 9],
      [1],
    ]);
  });

  it('sends alone what is estimated above the limit of tokens, and refuses nothing for it', () => {
    const counts = [2, 3, 1, 99, 4].map((tokens) => ({ bytes: 1, tokens, units: 1 }));
    const { batches, tooLarge } = pack(counts, { ...wide, tokens: 5 });
    expect(batches.map((batch) => batch.map(({ tokens }) => tokens))).toEqual([
      [2, 3],
      [1],
      [99],
      [4],
    ]);
    expect(tooLarge).toEqual([]);
  });

  it('counts units, and refuses what has more of them than a whole batch may have', () => {
    const counts = [2, 3, 1, 6, 4].map((units) => ({ bytes: 1, tokens: 0, units }));
    const { batches, tooLarge } = pack(counts, { ...wide, units: 5 });
    expect(batches.map((batch) => batch.map(({ units }) => units))).toEqual([
      [2, 3],
      [1, 4],
    ]);
    expect(tooLarge.map(({ units }) => units)).toEqual([6]);
  });
});
