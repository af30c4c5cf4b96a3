import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { PolledBatch, Remote } from '../../batchers/batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { ReplyError } from '../../batchers/shared/replies.ts';
import { type Deferred, deferred } from '../../concurrency/deferred.ts';
import type { Wire } from '../../http/wire.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { Watcher } from './watcher.ts';

const request = { method: 'GET', path: '/batches' } as const;

function answered(status: number, retryAfter?: number): ReplyError {
  const meaning = status === 401 || status === 403 ? 'denied' : status === 429 ? 'full' : 'busy';
  const failure = {
    code: 'x',
    message: 'x',
    meaning,
    next: 'fail',
    ...(retryAfter && { retryAfter }),
  };
  return new ReplyError(request, failure as ReplyError['failure'], status);
}

/** Says of each batch what the test has put down for it. */
class ScriptedBatcher extends OpenAIBatcher {
  readonly asked: string[][] = [];
  readonly errors = new Map<string, Error>();
  readonly over = new Set<string>();
  /** Polls are answered when this is settled. */
  answers: Deferred<void> | undefined;

  override async *poll(_wire: Wire, batches: readonly PolledBatch[]): AsyncIterable<Remote> {
    const ids = batches.map(({ id }) => id);
    this.asked.push(ids);
    await this.answers?.promise;
    for (const id of ids) {
      const error = this.errors.get(id);
      if (error) throw error;
      yield this.over.has(id) ? { ...remote(id), state: 'ended' } : remote(id);
    }
  }
}

function remote(id: string): Remote {
  return { id, state: 'running', raw: 'in_progress', readable: false, sources: {} };
}

let clock: ManualClock;
let batcher: ScriptedBatcher;
let seen: string[];
let denied: string[];
let unread: string[];
let closed: string[];
let watcher: Watcher;

beforeEach(() => {
  clock = new ManualClock();
  batcher = new ScriptedBatcher();
  seen = [];
  denied = [];
  unread = [];
  closed = [];
  const context = {
    clock,
    stopped: new AbortController().signal,
    report: () => undefined,
    troubles: { met: () => undefined, passed: () => undefined },
    background: (_what: string, work: Promise<unknown>) => void work,
  } as unknown as EngineContext;
  watcher = new Watcher(context);
});

function batch(id: string, wire: object = account, poll = { minimum: 1_000, maximum: 8_000 }) {
  const batch = {
    remote: remote(id),
    members: new Map(),
    handle: {},
    wire,
    batcher,
    queue: { endpoint: '/v1/chat/completions', limits: { pollMinimum: 0 } },
    scopes: new Set([{ poll }]),
  } as unknown as Batch;
  return {
    batch,
    seen: () => void seen.push(id),
    unread: (failure: unknown) => void (failure ? denied : unread).push(id),
    close: () => void closed.push(id),
  };
}

const account = {};

async function pass(milliseconds: number): Promise<void> {
  clock.advance(milliseconds);
  await turn();
}

describe('watching', () => {
  it('asks for all batches of an account in one round, with one timer for all accounts', async () => {
    for (const id of ['a', 'b', 'c']) watcher.watch(batch(id));
    watcher.watch(batch('d', {}));
    expect(clock.timers).toBe(1);
    await pass(1_100);
    expect(batcher.asked.map((ids) => ids.join('')).sort()).toEqual(['abc', 'd']);
  });

  it('asks less and less often while nothing happens, and soon again for a new batch', async () => {
    watcher.watch(batch('a'));
    const rounds = async (milliseconds: number) => {
      const before = batcher.asked.length;
      for (let at = 0; at < milliseconds; at += 100) await pass(100);
      return batcher.asked.length - before;
    };
    const first = await rounds(10_000);
    const later = await rounds(10_000);
    expect(later).toBeLessThan(first);
    expect(await rounds(80_000)).toBeLessThanOrEqual(12);
    watcher.watch(batch('b'));
    expect(await rounds(1_200)).toBe(1);
  });

  it('is not put off by batches that keep coming', async () => {
    for (let n = 0; n < 40; n += 1) {
      watcher.watch(batch(`b${n}`));
      await pass(100);
    }
    expect(batcher.asked.length).toBeGreaterThanOrEqual(2);
  });

  it('stops with the last batch', async () => {
    const [a, b] = [batch('a'), batch('b')];
    watcher.watch(a);
    watcher.watch(b);
    watcher.unwatch(a);
    watcher.unwatch(b);
    expect(clock.timers).toBe(0);
  });

  it('ends with the engine for every batch that is watched, and begins for none after that', () => {
    const gone = batch('b');
    for (const one of [batch('a'), gone, batch('c', {})]) watcher.watch(one);
    watcher.unwatch(gone);
    watcher.close();
    expect(closed).toEqual(['a', 'c']);
    expect(watcher.watch(batch('d'))).toBe(false);
    expect(clock.timers).toBe(0);
  });
});

describe('a webhook', () => {
  const minute = 60_000;
  /** The batch ends, is looked at within a while, and is watched no more. */
  const end = async (watched: ReturnType<typeof batch>, hinted: boolean) => {
    batcher.over.add(watched.batch.remote?.id ?? '');
    if (hinted) watcher.hint('openai', watched.batch.remote?.id ?? '');
    // An end that is announced is seen at once, any other with the next of the rare polls.
    for (let at = 0; at < (hinted ? 1 : 12); at += 1) await pass(minute);
    watcher.unwatch(watched);
  };
  const polled = async (milliseconds: number) => {
    const before = batcher.asked.length;
    for (let at = 0; at < milliseconds; at += 1_000) await pass(1_000);
    return batcher.asked.length - before;
  };

  it('makes its batch due at once', async () => {
    watcher.watch(batch('a', account, { minimum: 60 * minute, maximum: 60 * minute }));
    watcher.hint('anthropic', 'a');
    await pass(1_000);
    expect(batcher.asked).toEqual([]);
    watcher.hint('openai', 'a');
    await pass(0);
    expect(batcher.asked).toEqual([['a']]);
  });

  it('that comes during a round makes the batch due again right after it', async () => {
    const rare = { minimum: 60 * minute, maximum: 60 * minute };
    watcher.watch(batch('a', account, rare), { atOnce: true });
    const answers = deferred<void>();
    batcher.answers = answers;
    await pass(0);
    watcher.hint('openai', 'a');
    answers.resolve();
    batcher.answers = undefined;
    await turn();
    await pass(0);
    expect(batcher.asked).toEqual([['a'], ['a']]);
  });

  it.each(['new', 'batches/new'])(
    'that comes before the create is answered makes %s due when it is watched',
    async (id) => {
      const told = batch('told');
      watcher.watch(told);
      await end(told, true);
      watcher.hint('openai', 'new');
      watcher.watch(batch(id));
      watcher.watch(batch('other'));
      await pass(0);
      expect(batcher.asked.at(-1)).toEqual([id, 'other']);
    },
  );

  it('that announces ends makes polls rare, until an end comes unannounced', async () => {
    const [first, second] = [batch('first'), batch('second')];
    watcher.watch(batch('long'));
    for (const one of [first, second]) watcher.watch(one);
    expect(await polled(10 * minute)).toBeGreaterThan(50);
    await end(first, true);
    expect(await polled(30 * minute)).toBeLessThanOrEqual(4);
    await end(second, false);
    expect(await polled(10 * minute)).toBeGreaterThan(50);
  });

  it('with an unknown id makes all accounts of its provider due, and changes nothing else', async () => {
    const rare = { minimum: 60 * minute, maximum: 60 * minute };
    watcher.watch(batch('a', account, rare));
    watcher.watch(batch('b', {}, rare));
    watcher.hint('openai', 'nobody');
    await pass(0);
    expect(batcher.asked.flat().sort()).toEqual(['a', 'b']);
    expect(await polled(50 * minute)).toBe(0);
  });
});

describe('a poll that fails', () => {
  it('for one batch does not hide the others', async () => {
    for (const id of ['a', 'b', 'c']) watcher.watch(batch(id));
    batcher.errors.set('a', answered(500));
    await pass(1_100);
    expect(seen).toEqual(['b', 'c']);
    expect(unread).toEqual(['a']);
    // Last in line from now on, so that the next round begins with the others.
    await pass(2_000);
    expect(batcher.asked.at(-1)).not.toContain('b');
    expect(seen).toEqual(['b', 'c', 'b', 'c']);
  });

  it('for all is tried three times at most in a round, and then less and less often', async () => {
    const ids = Array.from({ length: 50 }, (_, n) => `b${n}`);
    for (const id of ids) {
      watcher.watch(batch(id));
      batcher.errors.set(id, new Error('reset'));
    }
    await pass(1_100);
    expect(batcher.asked).toHaveLength(4);
    for (let minute = 0; minute < 60; minute += 1) await pass(60_000);
    expect(batcher.asked.length).toBeLessThanOrEqual(4 * 70);
    batcher.errors.clear();
    await pass(70_000);
    expect(new Set(seen).size).toBe(50);
  });

  it('waits for as long as the provider asks', async () => {
    watcher.watch(batch('a'));
    batcher.errors.set('a', answered(429, 120_000));
    await pass(1_100);
    await pass(110_000);
    expect(batcher.asked).toHaveLength(1);
    await pass(10_000);
    expect(batcher.asked).toHaveLength(2);
  });

  it('is not followed by another before the provider wants it, whatever comes meanwhile', async () => {
    const [a, b] = [batch('a'), batch('b')];
    watcher.watch(a);
    watcher.watch(b);
    batcher.errors.set('b', answered(429, 120_000));
    await pass(1_100);
    // One was seen, and nobody else is asked for after the word to stay away.
    expect(seen).toEqual(['a']);
    expect(batcher.asked).toHaveLength(1);
    watcher.watch(batch('c'));
    await pass(60_000);
    // Not even when nothing is left of those that were asked for.
    for (const one of [a, b]) watcher.unwatch(one);
    watcher.unwatch(batch('c'));
    watcher.watch(batch('d'));
    await pass(59_000);
    expect(batcher.asked).toHaveLength(1);
    await pass(1_200);
    expect(batcher.asked).toEqual([['a', 'b'], ['d']]);
  });

  it('and asks us to stay away, for one batch alone, does not hide the others', async () => {
    for (const id of ['a', 'b', 'c']) watcher.watch(batch(id));
    batcher.errors.set('a', answered(503, 10_000));
    for (let at = 0; at < 25; at += 1) await pass(1_000);
    expect(new Set(seen)).toEqual(new Set(['b', 'c']));
  });

  it.each([401, 403])('with %i for all is told to all of the account', async (status) => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const id of ids) {
      watcher.watch(batch(id));
      batcher.errors.set(id, answered(status));
    }
    await pass(1_100);
    expect(new Set(denied)).toEqual(new Set(ids));
    expect(batcher.asked).toHaveLength(4);
  });

  it('with 403 for one batch is told to it alone', async () => {
    for (const id of ['a', 'b', 'c']) watcher.watch(batch(id));
    batcher.errors.set('a', answered(403));
    await pass(1_100);
    expect(denied).toEqual(['a']);
    expect(seen).toEqual(['b', 'c']);
  });
  it('with 403 for one batch that is given up at that is not followed by another for it', async () => {
    const one = batch('a');
    const unread = (failure: unknown) => (failure ? watcher.unwatch(one) : undefined);
    watcher.watch({ ...one, unread });
    watcher.watch(batch('b'));
    batcher.errors.set('a', answered(403));
    await pass(1_100);
    batcher.asked.length = 0;
    await pass(2_000);
    expect(batcher.asked).toEqual([['b']]);
  });
});
