import { beforeEach, describe, expect, it } from 'vitest';
import type { TypicalTime } from '../orchestrator/model/batch-times.ts';
import { addToStats, emptyStats } from '../orchestrator/model/stats.ts';
import type { LineOutput } from './terminal/line-output.ts';
import { TextDisplay } from './text-display.ts';

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
  const other = display.open({ stats: emptyStats(), store: ':memory:' });
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

it('a batch whose lines are not all answered says how many are', () => {
  const { scope } = openScope(false);
  scope.event('batch:collected', { ...batch('bl_1', 20), answered: 14, failed: 2 });
  scope.event('batch:collected', { ...batch('bl_2', 4), answered: 3, failed: 1 });
  expect(printed).toEqual([
    'collected bl_1: 14 of 20 answers, 2 errors',
    'collected bl_2: 3 answers, 1 error',
  ]);
});

describe('live lines', () => {
  it('have one row for a model, whichever way its calls take', () => {
    const { scope, poll } = openScope(true);
    const flex = { ...facts, lane: 'flex' } as const;
    for (let at = 0; at < 20; at += 1) scope.event('call:captured', flex);
    expect(drawn?.(77)[1]).toContain('0 of 20  one by one');
    // It has no flex tier: its calls are batched.
    scope.event('batch:submitted', batch('bl_1', 20));
    poll('bl_1', 5, 20);
    expect(drawn?.(77)).toEqual([
      '5 of 20 done, 0s',
      'openai gpt-5-mini  ██████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒   5 of 20  running 0s',
    ]);
    scope.event('batch:ended', { ...batch('bl_1', 20), status: 'completed' });
    scope.event('batch:collected', { ...batch('bl_1', 20), answered: 15, failed: 0 });
    const answered = { ...flex, batch: 'bl_1', source: 'batch', status: 200 } as const;
    for (let at = 0; at < 15; at += 1) scope.event('call:answered', answered);
    expect(drawn?.(77)[1]).toContain('15 of 20  collecting calls');
  });

  it('show the calls, the batches by model, and what is in the way', () => {
    const { scope, stats, poll } = openScope(true);
    for (let at = 0; at < 3_500; at += 1) {
      stats.captured += 1;
      scope.event('call:captured', at < 3_100 ? facts : { ...facts, model: 'gpt-5' });
    }
    scope.event('batch:submitting', { ...batch('bl_1'), bytes: 1 });
    expect(drawn?.(77)).toEqual([
      '0 of 3,500 done, 0s',
      'openai gpt-5-mini  ·······················      0 of 3,100  uploading',
      'openai gpt-5       ·······················      0 of   400  collecting calls',
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
      '400 of 3,500 done, 1m',
      'openai gpt-5-mini  ██▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒·    400 of 3,100  ~9m left',
      'openai gpt-5       ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒      0 of   400  running 6m',
      '! cannot reach api.openai.com',
    ]);
    scope.event('notice', { notice: 'over', id: '1', text: 'can be reached again' });
    poll('bl_1', 3_000);
    expect(drawn?.(77)[1]).toMatch(/finalizing$/);
    scope.event('batch:ended', { ...batch('bl_1'), status: 'completed' });
    expect(drawn?.(77)[1]).toMatch(/reading answers$/);
    for (let at = 0; at < 3_000; at += 1) {
      const status = at < 10 ? 500 : 200;
      const dollars = { paid: 0.001, saved: 0.001 };
      const answered = { ...facts, status, source: 'batch', batch: 'bl_1', dollars } as const;
      addToStats(stats, 'call:answered', answered);
      scope.event('call:answered', answered);
    }
    scope.event('batch:collected', { ...batch('bl_1'), answered: 2_990, failed: 10 });
    expect(drawn?.(77).slice(0, 2)).toEqual([
      '2,990 of 3,500 done, 10 failed, 1m, saved $3.00',
      'openai gpt-5-mini  ██████████×·  2,990 of 3,100  10 failed  collecting calls',
    ]);
  });

  it('name what is slow, and lines that stay say why', () => {
    const { scope, poll } = openScope(true);
    scope.event('batch:submitted', batch('bl_1'));
    printed = [];
    poll('bl_1', 100);
    const hour = 60 * minute;
    const slow = { ...batch('bl_1'), kind: 'slow', age: 3 * hour, usual: 20 * minute } as const;
    scope.event('batch:slow', slow);
    expect(drawn?.(77)[1]).toMatch(/ {2}slow 0s$/);
    scope.event('batch:slow', { ...slow, kind: 'stuck', previous: 'slow' });
    expect(drawn?.(77)[1]).toMatch(/ {2}stuck 0s$/);
    scope.event('batch:slow', { ...slow, kind: 'provider', previous: 'stuck' });
    expect(drawn?.(77)[1]).toMatch(/ {2}provider slow 0s$/);
    const took = 'under way for 3h, 9 of 10 batches of its size took at most 20m';
    expect(printed).toEqual([
      `bl_1 is slow; ${took}`,
      `bl_1 seems to be stuck, because others of gpt-5-mini sent with it or later have ended; ${took}`,
      `bl_1 is slow, and so are others of gpt-5-mini: the provider is slow; ${took}`,
    ]);
    poll('bl_1', undefined);
    expect(drawn?.(77)[1]).toMatch(/ {2}provider slow 0s$/);
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
    expect(drawn?.(77)[1]).toMatch(/^openai gpt-5-mini {2}█+▒+ {3}6 of 10 {2}running 0s$/);
  });

  it('say what a batch usually takes, and which provider gives no counts', async () => {
    const { scope, poll } = openScope(true, [
      { provider: 'anthropic', model: 'claude-sonnet-4-5', duration: 40 * minute },
    ]);
    const claude = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
    scope.event('batch:submitted', { ...batch('bl_1'), ...claude });
    scope.event('batch:submitted', { ...batch('bl_2'), ...claude, model: 'claude-opus-4-5' });
    await Promise.resolve();
    expect(drawn?.(77)[1]).toMatch(/usually 40m$/);
    expect(drawn?.(77)[0]).not.toContain('left');
    for (const token of ['bl_1', 'bl_2']) poll(token, undefined);
    const [, known, unknown] = drawn?.(77) ?? [];
    expect(known).toMatch(/^claude-sonnet-4-5 +▒+ +- of 3,000 {2}usually 40m$/);
    expect(unknown).toMatch(/^claude-opus-4-5 +▒+ +- of 3,000 {2}counts at the end$/);
  });

  it('say that batches wait for quota or for a slot', () => {
    const { scope } = openScope(true);
    scope.event('call:captured', facts);
    scope.event('call:captured', { ...facts, model: 'gpt-5' });
    const provider = 'openai';
    const quota = { provider, model: 'gpt-5-mini' };
    const noRoom = { notice: 'trouble', id: '1', text: 'no room', waits: quota } as const;
    scope.event('notice', noRoom);
    expect(drawn?.(77)[1]).toMatch(/waiting for quota$/);
    scope.event('notice', { notice: 'over', id: '1' });
    expect(drawn?.(77)[1]).toMatch(/collecting calls$/);
    // A wait that begins anew is told by the same object.
    scope.event('notice', noRoom);
    expect(drawn?.(77)[1]).toMatch(/waiting for quota$/);
    expect(printed).toEqual(['no room']);
    expect(drawn?.(77)[2]).toMatch(/collecting calls$/);
    scope.event('notice', { notice: 'over', id: '1' });
    scope.event('notice', { notice: 'trouble', id: '2', text: 'no slot', waits: { provider } });
    expect(drawn?.(77)[2]).toMatch(/waiting for a slot$/);
    scope.event('batch:submitting', { ...batch('bl_1', 1), bytes: 1 });
    scope.event('notice', { notice: 'over', id: '2' });
    scope.event('batch:resent', { ...batch('bl_1', 1), reason: 'no room yet: too many tokens' });
    expect(drawn?.(77)[1]).toMatch(/waiting for quota$/);
  });

  it.each([77, 47])('fit in their columns, and hide models beyond six: %i', (columns) => {
    const { scope, poll, stats } = openScope(true);
    stats.dollars.saved = 12.34;
    now = minute;
    for (let at = 0; at < 9; at += 1) {
      const model = `a-model-with-a-rather-long-name-${at}`;
      for (let call = 0; call < 3; call += 1) scope.event('call:captured', { ...facts, model });
      scope.event('call:answered', { ...facts, model, status: 500, source: 'batch' });
      scope.event('batch:submitted', { ...batch(`bl_${at}`, 50_000), model });
      poll(`bl_${at}`, undefined, 50_000);
    }
    const lines = drawn?.(columns) ?? [];
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(/^0 of 450,009 done.*, saved \$12\.34$/);
    expect(lines.at(-1)).toBe('and 3 more models');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[1]).toMatch(/^(openai )?a-m.*▒{5,}.* 1(×| failed) .*counts at the end$/);
  });

  it.each([77, 47])('say all that counts, also of large jobs: %i columns', (columns) => {
    const { scope, stats } = openScope(true);
    stats.dollars.saved = 1234.56;
    const counted = { total: 50_000, completed: 20_000, failed: 1_200 };
    const waits = { provider: 'openai', model: 'gpt-5-nano' };
    scope.event('notice', { notice: 'trouble', id: '1', text: 'no room', waits });
    for (const model of ['gpt-5-mini', 'gpt-5-mini-2026-11-01']) {
      const one = { ...batch(`bl_${model}`, 50_000), model };
      scope.event('batch:submitted', one);
      for (now of [0, 40 * minute, 100 * minute]) {
        const counts = { ...counted, completed: Math.round(now / 300) };
        scope.event('batch:polled', { ...one, status: 'in_progress', counts });
      }
    }
    for (let at = 0; at < 1_000; at += 1) {
      scope.event('call:captured', { ...facts, model: 'gpt-5-nano' });
    }
    const lines = drawn?.(columns) ?? [];
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(columns);
    expect(lines[0]).toMatch(/^40,000( of |\/)101,000.*saved \$1,?234\.56$/);
    // The first line has a label in front of it, in place of an indent.
    expect(lines[0]?.length).toBeLessThanOrEqual(columns - 9);
    const far = / 20,000( of |\/)50,000 +1,200(×| failed) +~2h 24m/;
    const [, nano, mini, dated] = lines;
    expect(nano).toMatch(/^(openai )?gpt.*nano .* 0( of |\/) *1,000 .*quota$/);
    expect(mini).toMatch(/^(openai )?gpt.*mini /);
    expect(dated).toMatch(/^(openai )?gpt.*1-01 /);
    for (const line of [mini, dated]) expect(line).toMatch(far);
  });

  it('shorten the ids of batches as far as they differ', () => {
    const { scope } = openScope(true);
    const tokens = ['bl_0123456789abcdef', 'bl_0123459999abcdef', 'bl_fedcba9876543210'];
    for (const token of tokens) scope.event('notice', { notice: 'hint', text: `${token} is here` });
    for (const token of tokens)
      scope.event('batch:collected', { ...batch(token, 1), answered: 1, failed: 0 });
    expect(printed.map((line) => /bl_\w+/.exec(line)?.[0])).toEqual([
      ...['bl_012345', 'bl_0123459', 'bl_fedcba'],
      ...['bl_0123456', 'bl_0123459', 'bl_fedcba'],
    ]);
  });

  it('print no progress, because they show it', () => {
    const { scope, poll } = openScope(true);
    scope.event('batch:submitted', batch('bl_1'));
    printed = [];
    for (; now < 60 * minute; now += minute) poll('bl_1', now / minute);
    expect(printed).toEqual([]);
  });
});
