import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnthropicBatcher } from '../batchers/anthropic.ts';
import { OpenAIBatcher } from '../batchers/openai.ts';
import { type PackLimits, pack } from './packer.ts';

interface Sized {
  readonly name: number;
  readonly bytes: number;
}

const frames = [new OpenAIBatcher(), new AnthropicBatcher()].map(
  (batcher) => (count: number) => batcher.frameBytes(count),
);

const items = fc
  .array(fc.nat({ max: 60 }), { maxLength: 60 })
  .map((sizes) => sizes.map((bytes, name): Sized => ({ name, bytes })));

const limits: fc.Arbitrary<PackLimits> = fc.record({
  items: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 1, max: 200 }),
  itemBytes: fc.integer({ min: 0, max: 60 }),
  frameBytes: fc.constantFrom(() => 0, ...frames),
});

function bytesOf({ bytes }: Sized): number {
  return bytes;
}

function sum(batch: readonly Sized[]): number {
  return batch.reduce((total, { bytes }) => total + bytes, 0);
}

describe('pack', () => {
  it('drops nothing, doubles nothing and moves nothing', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        const { batches, tooLarge } = pack(all, bytesOf, limit);
        const refused = new Set(tooLarge);
        expect(batches.flat()).toEqual(all.filter((item) => !refused.has(item)));
        expect(tooLarge).toEqual(all.filter((item) => refused.has(item)));
      }),
    );
  });

  it('keeps every limit, and leaves no batch empty', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        for (const batch of pack(all, bytesOf, limit).batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(limit.items);
          expect(sum(batch) + limit.frameBytes(batch.length)).toBeLessThanOrEqual(limit.bytes);
          for (const item of batch) expect(item.bytes).toBeLessThanOrEqual(limit.itemBytes);
        }
      }),
    );
  });

  it('refuses only what could not be sent alone', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        for (const { bytes } of pack(all, bytesOf, limit).tooLarge) {
          const alone = bytes + limit.frameBytes(1);
          expect(bytes > limit.itemBytes || alone > limit.bytes).toBe(true);
        }
      }),
    );
  });

  it('begins a new batch only when the next item does not fit', () => {
    fc.assert(
      fc.property(items, limits, (all, limit) => {
        const { batches } = pack(all, bytesOf, limit);
        batches.slice(1).forEach((batch, index) => {
          const before = batches[index] as readonly Sized[];
          const joined = [...before, batch[0] as Sized];
          const bytes = sum(joined) + limit.frameBytes(joined.length);
          expect(joined.length > limit.items || bytes > limit.bytes).toBe(true);
        });
      }),
    );
  });

  it('fills a batch to the last byte, frame included', () => {
    const limit = { items: 10, bytes: 22, itemBytes: 10, frameBytes: (count: number) => count };
    const sizes = [10, 10, 10, 9, 1];
    const { batches } = pack(sizes, (size) => size, limit);
    expect(batches).toEqual([[10, 10], [10, 9], [1]]);
  });
});
