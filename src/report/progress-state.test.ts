import { describe, expect, it } from 'vitest';
import { emptyStats } from '../orchestrator/model/stats.ts';
import { CallCounts } from './call-counts.ts';
import { ProgressState } from './progress-state.ts';
import { liveLines } from './text/live-lines.ts';

const facts = {
  provider: 'openai',
  endpoint: '/v1/chat/completions',
  model: 'gpt-5-mini',
  batch: 'bl_1',
  count: 30,
};

describe('the estimate of a batch', () => {
  const shown = (polls: readonly (readonly [at: number, completed: number])[], now: number) => {
    const state = new ProgressState();
    state.event('batch:submitted', facts, 0);
    for (const [at, completed] of polls) {
      const counts = { total: 30, completed, failed: 0 };
      state.event('batch:polled', { ...facts, counts, state: 'running', age: at } as never, at);
    }
    const counted = [{ stats: emptyStats(), calls: new CallCounts(), since: 0 }];
    return liveLines(state, counted, new Map(), now, 80).join('\n');
  };

  it('stays while it is less than a second, and where the batch has become slower', () => {
    const polls = [
      [1_000, 10],
      [2_000, 20],
      [2_800, 29],
    ] as const;
    for (const now of [2_800, 2_850, 3_000, 4_000]) {
      expect(shown(polls, now)).toMatch(/29 of 30 +~1s left$/);
    }
  });

  it('grows while nothing gets done', () => {
    const polls = [
      [1_000, 10],
      [2_000, 20],
    ] as const;
    expect(shown(polls, 2_000)).toMatch(/~1s left$/);
    expect(shown(polls, 3_600_000)).toMatch(/~1h left$/);
  });
});
