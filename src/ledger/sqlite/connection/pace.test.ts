import { describe, expect, it } from 'vitest';
import { Pace } from './pace.ts';

describe('the pace of transactions', () => {
  it('gives the next one fewer rows when one took long, down to the least', () => {
    const pace = new Pace({ least: 10, most: 1_000 });
    expect(pace.rows).toBe(100);
    pace.took(20);
    expect(pace.rows).toBe(15);
    for (let times = 0; times < 5; times += 1) pace.took(20);
    expect(pace.rows).toBe(10);
  });

  it('finds its way up again from a single row, to the most', () => {
    const pace = new Pace({ least: 1, most: 100 });
    for (let times = 0; times < 8; times += 1) pace.took(10);
    expect(pace.rows).toBe(1);
    for (let times = 0; times < 60; times += 1) pace.took(0.1);
    expect(pace.rows).toBe(100);
  });

  it('learns only bad news from a transaction of few rows', () => {
    const pace = new Pace({ least: 10, most: 1_000 });
    pace.took(0.1, 3);
    expect(pace.rows).toBe(100);
    pace.took(10, 60);
    expect(pace.rows).toBe(18);
  });
});
