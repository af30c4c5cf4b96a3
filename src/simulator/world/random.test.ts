import { expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { createRandom } from './random.ts';

it('shuffles without losing or adding anything, the same for the same seed', () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.integer()), (seed, items) => {
      const first = [...items];
      const second = [...items];
      createRandom(seed).shuffle(first);
      createRandom(seed).shuffle(second);
      expect(first).toEqual(second);
      expect(first.toSorted()).toEqual(items.toSorted());
    }),
  );
});

it('brings every item to every place about equally often', () => {
  const random = createRandom(7);
  const firsts = [0, 0, 0, 0];
  for (let round = 0; round < 4000; round++) {
    const items = [0, 1, 2, 3];
    random.shuffle(items);
    firsts[items[0] as number] = (firsts[items[0] as number] ?? 0) + 1;
  }
  for (const count of firsts) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
