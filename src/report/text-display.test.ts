import { beforeEach, describe, expect, it } from 'vitest';
import { addToStats, emptyStats } from '../orchestrator/model/stats.ts';
import type { LineOutput } from './terminal/line-output.ts';
import { TextDisplay } from './text-display.ts';
import type { TypicalTime } from './typical-times.ts';

const minute = 60_000;
const facts = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'gpt-5-mini' };
const batch = (token: string, count = 3_000) => ({
  ...facts,
  batch: token,
  count,
  remoteId: `batch_${token}`,
});

let now: number;
let printed: string[];
let drawn: ((columns: number) => readonly string[]) | undefined;

beforeEach(() => {
  now = 0;
  printed = [];
  drawn = undefined;
});

function openScope(isLive: boolean, times: readonly TypicalTime[] = []) {
  const output: LineOutput = {
    print: (...lines) => printed.push(...lines),
    ...(isLive && {
      draw: (lines: (columns: number) => readonly string[]) => {
        drawn = lines;
      },
    }),
  };
  const display = new TextDisplay(output, { now: () => now });
  const stats = emptyStats();
  const scope = display.open({
    stats,
    store: '/ledger.db',
    completionWindow: 24 * 60 * minute,
    typicalTimes: async () => times,
  });
  const poll = (token: string, completed: number | undefined, count = 3_000) => {
    const counts =
      completed === undefined ? {} : { counts: { total: count, completed, failed: 0 } };
    scope.event('batch:polled', { ...batch(token, count), status: 'in_progress', ...counts });
  };
  return { display, scope, stats, poll };
}

describe('plain progress', () => {
  it('comes a minute after the counts move, then more and more seldom, with an estimate', () => {
    const { scope, poll } = openScope(false);
    scope.event('batch:submitted', batch('bl_1'));
    printed = [];
    const at: number[] = [];
    for (let done = 0; done <= 2_900; done += 10) {
      poll('bl_1', done);
      if (printed.length > at.length) at.push(now / minute);
      now += 10_000;
    }
    expect(printed[0]).toBe('bl_1: 60 of 3,000 done, about 49m left, after 1m');
    expect(printed[1]).toBe('bl_1: 150 of 3,000 done, about 48m left, after 3m');
    const gaps = at.map((time, index) => time - (at[index - 1] ?? 0));
    expect(gaps.slice(0, 4).map(Math.floor)).toEqual([1, 1, 2, 3]);
    expect(gaps.at(-1)).toBeCloseTo(10);
  });

  it('says so where the provider counts at the end only', () => {
    const { scope, poll } = openScope(false);
    scope.event('batch:submitted', { ...batch('bl_1'), provider: 'anthropic' });
    printed = [];
    for (; now <= 6 * minute; now += 10_000) poll('bl_1', undefined);
    expect(printed).toEqual(['bl_1: 3,000 under way, anthropic counts at the end only, after 5m']);
  });

  it('is one line for all batches', () => {
    const { scope, poll } = openScope(false);
    for (const token of ['bl_1', 'bl_2']) scope.event('batch:submitted', batch(token, 100));
    printed = [];
    for (; now <= minute; now += 20_000) {
      for (const token of ['bl_1', 'bl_2']) poll(token, now / 4_000, 100);
    }
    expect(printed).toEqual(['2 batches: 25 of 200 done, about 6m left, after 1m']);
  });
});

it('a late event of a closed scope is not shown after its sum', () => {
  const { scope, stats } = openScope(false);
  stats.captured = 1;
  stats.answered = 1;
  scope.event('batch:submitted', batch('bl_1', 1));
  scope.close();
  scope.event('batch:collected', { ...batch('bl_1', 1), answered: 1, failed: 0 });
  expect(printed.at(-1)).toBe('1 call answered');
});

it('events that several scopes get are shown once', () => {
  const { display, scope } = openScope(false);
  const other = display.open({ stats: emptyStats(), store: ':memory:', completionWindow: minute });
  const collected = { ...batch('bl_1', 2), answered: 2, failed: 0 };
  const resent = { ...batch('bl_2'), reason: 'sent again: it was lost' };
  const hint = { notice: 'hint', text: 'a hint' } as const;
  for (const one of [scope, other]) {
    one.event('batch:collected', collected);
    one.event('batch:resent', resent);
    one.event('notice', hint);
  }
  expect(printed).toEqual(['collected bl_1: 2 answers', 'bl_2: sent again: it was lost', 'a hint']);
});

describe('live lines', () => {
  it('show the calls, the batches by model, and what is in the way', () => {
    const { scope, stats, poll } = openScope(true);
    for (let at = 0; at < 3_500; at += 1) {
      stats.captured += 1;
      scope.event('call:captured', at < 3_100 ? facts : { ...facts, model: 'gpt-5' });
    }
    scope.event('batch:submitting', { ...batch('bl_1'), bytes: 1 });
    expect(drawn?.(77)).toEqual([
      '0 of 3,500 calls answered, 0s',
      '                   queued  sent  done  failed  age',
      'openai gpt-5-mini   3,100     0     0       0       uploading',
      'openai gpt-5          400     0     0       0       collecting calls',
    ]);
    scope.event('batch:submitted', batch('bl_1'));
    scope.event('notice', {
      notice: 'rejoined',
      ...batch('bl_2', 400),
      model: 'gpt-5',
      age: 5 * minute,
    });
    poll('bl_1', 100);
    now = minute;
    poll('bl_1', 400);
    scope.event('notice', { notice: 'trouble', id: '1', text: 'cannot reach api.openai.com' });
    expect(drawn?.(77)).toEqual([
      '0 of 3,500 calls answered, 1m',
      '                   queued   sent  done  failed  age',
      'openai gpt-5-mini     100  3,000   400       0   1m  running, 9m left',
      'openai gpt-5            0    400     0       0   6m  running',
      'cannot reach api.openai.com',
    ]);
    scope.event('notice', { notice: 'over', id: '1', text: 'can be reached again' });
    poll('bl_1', 3_000);
    expect(drawn?.(77)[2]).toMatch(/finalizing$/);
    scope.event('batch:ended', { ...batch('bl_1'), status: 'completed' });
    expect(drawn?.(77)[2]).toMatch(/reading answers$/);
    for (let at = 0; at < 3_000; at += 1) {
      const status = at < 10 ? 500 : 200;
      const dollars = { paid: 0.001, saved: 0.001 };
      const answered = { ...facts, status, source: 'batch', batch: 'bl_1', dollars } as const;
      addToStats(stats, 'call:answered', answered);
      scope.event('call:answered', answered);
    }
    scope.event('batch:collected', { ...batch('bl_1'), answered: 2_990, failed: 10 });
    expect(drawn?.(77).slice(0, 3)).toEqual([
      '2,990 of 3,500 calls answered, 10 failed, 1m, paid $3.00, saved $3.00',
      '                   queued   sent   done  failed  age',
      'openai gpt-5-mini     100  3,000  2,990      10       collecting calls',
    ]);
  });

  it('count an answer once, also while the rest of its batch runs', () => {
    const { scope, stats, poll } = openScope(true);
    for (let at = 0; at < 10; at += 1) {
      stats.captured += 1;
      scope.event('call:captured', facts);
    }
    scope.event('batch:submitted', batch('bl_1', 10));
    for (let at = 0; at < 4; at += 1) {
      scope.event('call:answered', { ...facts, status: 200, source: 'batch', batch: 'bl_1' });
    }
    poll('bl_1', 6, 10);
    expect(drawn?.(77)[2]).toMatch(/^openai gpt-5-mini +0 +10 +6 +0 /);
  });

  it('say what a batch usually takes, and which provider gives no counts', async () => {
    const { scope, poll } = openScope(true, [
      { provider: 'anthropic', model: 'claude-sonnet-4-5', duration: 40 * minute },
    ]);
    const claude = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
    scope.event('batch:submitted', { ...batch('bl_1'), ...claude });
    scope.event('batch:submitted', { ...batch('bl_2'), ...claude, model: 'claude-opus-4-5' });
    await Promise.resolve();
    expect(drawn?.(77)[2]).toMatch(/running, usually 40m$/);
    for (const token of ['bl_1', 'bl_2']) poll(token, undefined);
    const [, , known, unknown] = drawn?.(77) ?? [];
    expect(known).toMatch(/^anthropic claude-[so]… +0 +3,000 +- +0 +0s {2}usually 40m, no counts$/);
    expect(unknown).toMatch(
      /^anthropic claude-[so]… +0 +3,000 +- +0 +0s {2}counts at the end only$/,
    );
  });

  it('say that batches wait for quota or for a slot', () => {
    const { scope } = openScope(true);
    scope.event('call:captured', facts);
    scope.event('call:captured', { ...facts, model: 'gpt-5' });
    const provider = 'openai';
    const quota = { provider, model: 'gpt-5-mini' };
    const noRoom = { notice: 'trouble', id: '1', text: 'no room', waits: quota } as const;
    scope.event('notice', noRoom);
    expect(drawn?.(77)[2]).toMatch(/waiting for quota$/);
    scope.event('notice', { notice: 'over', id: '1' });
    expect(drawn?.(77)[2]).toMatch(/collecting calls$/);
    // A wait that begins anew is told by the same object.
    scope.event('notice', noRoom);
    expect(drawn?.(77)[2]).toMatch(/waiting for quota$/);
    expect(printed).toEqual(['no room']);
    expect(drawn?.(77)[3]).toMatch(/collecting calls$/);
    scope.event('notice', { notice: 'over', id: '1' });
    scope.event('notice', { notice: 'trouble', id: '2', text: 'no slot', waits: { provider } });
    expect(drawn?.(77)[3]).toMatch(/waiting for a slot$/);
    scope.event('batch:submitting', { ...batch('bl_1', 1), bytes: 1 });
    scope.event('notice', { notice: 'over', id: '2' });
    scope.event('batch:resent', { ...batch('bl_1', 1), reason: 'no room yet: too many tokens' });
    expect(drawn?.(77)[2]).toMatch(/waiting for quota$/);
  });

  it('fit in 80 columns, and hide models beyond six', () => {
    const { scope, poll } = openScope(true);
    for (let at = 0; at < 9; at += 1) {
      const model = `a-model-with-a-rather-long-name-${at}`;
      scope.event('call:captured', { ...facts, model });
      scope.event('batch:submitted', { ...batch(`bl_${at}`, 50_000), model });
      poll(`bl_${at}`, undefined, 50_000);
    }
    const lines = drawn?.(77) ?? [];
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toBe('and 3 more models');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(77);
    expect(lines[2]).toMatch(/counts at the end only$/);
  });

  it('print no progress, because they show it', () => {
    const { scope, poll } = openScope(true);
    scope.event('batch:submitted', batch('bl_1'));
    printed = [];
    for (; now < 60 * minute; now += minute) poll('bl_1', now / minute);
    expect(printed).toEqual([]);
  });
});
