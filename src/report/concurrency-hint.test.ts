import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { FlushReason } from '../orchestrator/model/events.ts';
import { emptyStats } from '../orchestrator/model/stats.ts';
import { ConcurrencyHint } from './concurrency-hint.ts';

const window = 5_000;

/** A scope whose calls come in rounds; each round is flushed, then answered. */
function watchedScope() {
  const clock = new ManualClock();
  const stats = emptyStats();
  const said: string[] = [];
  const watch = new ConcurrencyHint({ stats, clock, window }, (hint) => said.push(hint));
  let asked = 0;
  return {
    said,
    /** `pause`: what passes between the answers and the next calls. */
    round(
      calls: number,
      {
        reason = 'window',
        pause = 20,
        body = (at: number) => `{"question":"number ${at}"}`,
      } = {} as {
        reason?: FlushReason;
        pause?: number;
        body?: (at: number) => string;
      },
    ): string[] {
      clock.advance(pause + (reason === 'window' ? window : 0));
      stats.captured += calls;
      const bodies = Array.from({ length: calls }, (_, at) => ({ body: body(asked + at) }));
      watch.flushed(bodies, reason);
      // An hour of the provider's.
      clock.advance(3_600_000);
      const answers = bodies.map((_, at) => `a long answer to question ${asked + at}, and so on`);
      for (const content of answers) {
        stats.answered += 1;
        const json = { id: `chatcmpl-${content.length}`, choices: [{ message: { content } }] };
        watch.answered({ status: 200, headers: {}, body: JSON.stringify(json) });
      }
      asked += calls;
      return answers;
    },
    watch,
    stats,
  };
}

const question = expect.stringContaining('Are more to come?');
const finding = (calls: string) => expect.stringContaining(`at most ${calls} at once`);

describe('the hint about small batches', () => {
  it('asks at the first flush of a round number, and says so at the second', () => {
    const { round, said } = watchedScope();
    round(10);
    expect(said).toEqual([question]);
    for (const calls of [10, 10, 10]) round(calls);
    expect(said).toEqual([question, finding('10 calls')]);
  });

  it('comes with the second call of a loop', () => {
    const { round, said } = watchedScope();
    round(1);
    expect(said).toEqual([]);
    for (const calls of [1, 1, 1]) round(calls);
    expect(said).toEqual([finding('1 call')]);
  });

  it('does not come for agents, whose calls hold what they were answered', () => {
    const { round, said } = watchedScope();
    let answers = round(40);
    for (let step = 0; step < 6; step += 1) {
      const before = answers;
      const body = (at: number) => JSON.stringify({ messages: ['go on', before[at % 40]] });
      answers = round(40, { body });
    }
    expect(said).toEqual([]);
  });

  it('ignores text that every call repeats', () => {
    const { round, said } = watchedScope();
    const body = (at: number) => JSON.stringify({ system: 'answer in a long sentence', at });
    round(7, { body });
    round(7, { body });
    expect(said).toEqual([finding('7 calls')]);
  });

  it('does not come for calls that come long after the answers', () => {
    const { round, said } = watchedScope();
    for (const calls of [3, 3, 3]) round(calls, { pause: 60_000 });
    expect(said).toEqual([]);
  });

  it('does not come while earlier calls wait: they may be slow, or of other queues', () => {
    const { watch, stats, said } = watchedScope();
    for (const captured of [7, 14, 21]) {
      stats.captured = captured;
      watch.flushed([{ body: '{}' }], 'window');
    }
    expect(said).toEqual([]);
  });

  it('does not come for large batches, nor where the program flushes itself', () => {
    const large = watchedScope();
    for (const calls of [500, 500, 500]) large.round(calls);
    expect(large.said).toEqual([]);
    const own = watchedScope();
    for (const calls of [10, 10, 10]) own.round(calls, { reason: 'flush' });
    expect(own.said).toEqual([]);
  });

  it('starts anew after a batch that was not small', () => {
    const { round, said } = watchedScope();
    for (const calls of [7, 1_000, 7, 1_000]) round(calls);
    expect(said).toEqual([]);
  });
});
