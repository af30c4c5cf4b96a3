import { describe, expect, it } from 'vitest';
import type { FlushReason } from '../orchestrator/events.ts';
import { emptyStats } from '../orchestrator/stats.ts';
import { SmallBatches } from './small-batches.ts';

interface Flush {
  readonly captured: number;
  readonly answered: number;
  readonly reason?: FlushReason;
}

function said(flushes: readonly Flush[]): string[] {
  const hint = new SmallBatches();
  return flushes.flatMap(({ captured, answered, reason = 'window' }) => {
    const event = { provider: 'openai', endpoint: '/v1/x', model: 'm', count: 10, reason };
    return hint.flushed(event, { ...emptyStats(), captured, answered }) ?? [];
  });
}

const tenAtATime = [0, 10, 20, 30, 40].map((answered) => ({ captured: answered + 10, answered }));

describe('the hint about small batches', () => {
  it('comes at the third batch in a row that waited for the one before, and only once', () => {
    expect(said(tenAtATime.slice(0, 2))).toEqual([]);
    expect(said(tenAtATime)).toEqual([expect.stringContaining('at most 10 requests')]);
  });

  it('comes for one request at a time, too', () => {
    const oneByOne = [0, 1, 2].map((answered) => ({ captured: answered + 1, answered }));
    expect(said(oneByOne)).toEqual([expect.stringContaining('at most 1 request,')]);
  });

  it('does not come while earlier calls wait: they may be slow, or of other queues', () => {
    const growing = [1, 2, 3, 4].map((n) => ({ captured: n * 10, answered: 0 }));
    expect(said(growing)).toEqual([]);
  });

  it('counts several queues that are flushed together as one round', () => {
    const pairs = [0, 10].flatMap((answered) => [
      { captured: answered + 10, answered },
      { captured: answered + 10, answered },
    ]);
    expect(said(pairs)).toEqual([]);
  });

  it('does not come for large batches, nor where the program flushes itself', () => {
    const large = [0, 500, 1_000].map((answered) => ({ captured: answered + 500, answered }));
    expect(said(large)).toEqual([]);
    const own = tenAtATime.map((flush) => ({ ...flush, reason: 'flush' as const }));
    expect(said(own)).toEqual([]);
  });

  it('starts anew after a batch that was not small', () => {
    const flushes = [
      ...tenAtATime.slice(0, 2),
      { captured: 1_020, answered: 20 },
      { captured: 1_030, answered: 1_020 },
      { captured: 1_040, answered: 1_030 },
    ];
    expect(said(flushes)).toEqual([]);
  });
});
