import { describe, expect, it } from 'vitest';
import { Pace } from './pace.ts';

function spin(milliseconds: number): void {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}

describe('the pace of slices', () => {
  it('gives the next slice fewer rows when one took long, down to the least', async () => {
    const pace = new Pace({ least: 10, most: 1_000 });
    const before = pace.rows;
    await pace.slice(async () => spin(20));
    expect(pace.rows).toBeLessThanOrEqual(before / 5);
    expect(pace.rows).toBeGreaterThanOrEqual(10);
    for (let slice = 0; slice < 5; slice += 1) await pace.slice(async () => spin(20));
    expect(pace.rows).toBe(10);
  });

  it('finds its way up again from a single row, to the most', async () => {
    const pace = new Pace({ least: 1, most: 100 });
    for (let slice = 0; slice < 8; slice += 1) await pace.slice(async () => spin(10));
    expect(pace.rows).toBe(1);
    const rows: number[] = [];
    for (let slice = 0; slice < 200; slice += 1) {
      await pace.slice(async (given) => rows.push(given));
    }
    expect(Math.max(...rows)).toBe(100);
  });

  it('passes errors on', async () => {
    const pace = new Pace({ least: 1, most: 100 });
    await expect(pace.slice(() => Promise.reject(new Error('full')))).rejects.toThrow('full');
  });
});
