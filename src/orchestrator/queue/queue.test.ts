import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { createHttpClient } from '../../http/client.ts';
import { openMemoryLedger } from '../../ledger/memory/memory-ledger.ts';
import { AbandonedRequests } from '../capture/abandoned-requests.ts';
import { Account } from '../capture/accounts.ts';
import { ClientRetries } from '../capture/client-retries.ts';
import { Spool } from '../capture/spool.ts';
import type { CapturedCall, EngineScope, Policy } from '../model/call.ts';
import { Caller, type Departures } from '../model/caller.ts';
import { Request } from '../model/request.ts';
import { Queue } from './queue.ts';

interface Flushed {
  readonly at: number;
  readonly names: readonly string[];
  readonly reason: string;
}

let clock: ManualClock;
let start: number;
let flushed: Flushed[];

beforeEach(() => {
  clock = new ManualClock();
  start = clock.now();
  flushed = [];
  anyQueue = queueWith();
});

const ledger = await openMemoryLedger();
const names = new WeakMap<Request, string>();
let anyQueue: Queue;

function queueWith(policy: Partial<Policy> = {}): Queue {
  const base = 'https://api.openai.com/v1';
  const http = createHttpClient({ clock });
  const account = new Account({ id: 1, hash: new Uint8Array(32) }, {}, base, http);
  const batcher = new OpenAIBatcher();
  return new Queue(
    {
      id: 1,
      batcher,
      account,
      wire: account.wire(batcher),
      endpoint: '/v1/chat/completions',
      model: 'm',
      batchHeaders: {},
      settings: {},
      isConfigured: false,
      lane: 'batch',
      lacks: undefined,
      sendOrdinary: () => undefined,
      bodies: new Spool(ledger),
      clientRetries: new ClientRetries(clock, new AbandonedRequests()),
      gate: undefined,
      policy: {
        lane: 'batch',
        window: 100,
        maxWindow: 1_000,
        batchSize: undefined,
        completionWindow: 86_400_000,
        attempts: 3,
        ...policy,
      },
    },
    clock,
    (_queue, requests, reason) => {
      const taken = requests.map((request) => names.get(request) ?? '?');
      flushed.push({ at: clock.now() - start, names: taken, reason });
    },
  );
}

function scope(flushing = false): EngineScope {
  return { flushing } as EngineScope;
}

const ordinary = scope();

function request(name: string, of: EngineScope = ordinary): Request {
  const caller = new Caller({ scope: of } as CapturedCall, {} as Departures);
  const made = new Request(anyQueue, name, '{}', { outputLimit: undefined, answers: 1 }, caller);
  made.becomeOurs(0);
  names.set(made, name);
  return made;
}

describe('a queue', () => {
  it('is flushed when no call has joined it for the window', () => {
    const queue = queueWith();
    queue.add(request('a'));
    clock.advance(60);
    queue.add(request('b'));
    clock.advance(99);
    expect(flushed).toEqual([]);
    clock.advance(1);
    expect(flushed).toEqual([{ at: 160, names: ['a', 'b'], reason: 'window' }]);
  });

  it('is flushed at the latest after the longest window, however busy it is', () => {
    const queue = queueWith({ maxWindow: 250 });
    for (let index = 0; index < 6; index += 1) {
      queue.add(request(String(index)));
      clock.advance(50);
    }
    expect(flushed).toEqual([{ at: 250, names: ['0', '1', '2', '3', '4'], reason: 'maxWindow' }]);
    clock.advance(100);
    expect(flushed[1]).toEqual({ at: 350, names: ['5'], reason: 'window' });
  });

  it('counts the longest window anew for the call that opens it anew', () => {
    const queue = queueWith({ window: 200, maxWindow: 250 });
    queue.add(request('a'));
    clock.advance(200);
    expect(flushed).toHaveLength(1);
    queue.add(request('b'));
    clock.advance(199);
    queue.add(request('c'));
    clock.advance(51);
    expect(flushed[1]).toEqual({ at: 450, names: ['b', 'c'], reason: 'maxWindow' });
  });

  it('is flushed at once at its size', () => {
    const queue = queueWith({ batchSize: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) queue.add(request(name));
    expect(flushed).toEqual([
      { at: 0, names: ['a', 'b'], reason: 'size' },
      { at: 0, names: ['c', 'd'], reason: 'size' },
    ]);
    clock.advance(100);
    expect(flushed[2]).toEqual({ at: 100, names: ['e'], reason: 'window' });
  });

  it('gives a call that comes after a full batch its whole window', () => {
    const queue = queueWith({ batchSize: 2 });
    queue.add(request('a'));
    clock.advance(90);
    queue.add(request('b'));
    queue.add(request('c'));
    clock.advance(99);
    expect(flushed).toHaveLength(1);
    clock.advance(1);
    expect(flushed[1]).toEqual({ at: 190, names: ['c'], reason: 'window' });
  });

  it('is never larger than the provider allows', () => {
    const queue = queueWith({ batchSize: 1_000_000 });
    const { items } = new OpenAIBatcher().limits({ endpoint: '/v1/chat/completions', model: 'm' });
    for (let index = 0; index < items; index += 1) queue.add(request('x'));
    expect(flushed.map(({ names: { length }, reason }) => [length, reason])).toEqual([
      [items, 'size'],
    ]);
  });

  it('is as large as the batcher recommends where nobody says otherwise', () => {
    const queue = queueWith();
    const { recommendedItems } = new OpenAIBatcher().limits({
      endpoint: '/v1/chat/completions',
      model: 'm',
    });
    for (let index = 0; index < recommendedItems; index += 1) queue.add(request('x'));
    expect(flushed).toHaveLength(1);
  });

  it('sends a window of nothing with the next turn of the clock', () => {
    const queue = queueWith({ window: 0 });
    queue.add(request('a'));
    queue.add(request('b'));
    clock.advance(0);
    expect(flushed).toEqual([{ at: 0, names: ['a', 'b'], reason: 'window' }]);
  });

  it('holds one timer for all its calls, and none when it is closed', () => {
    const queue = queueWith();
    for (let index = 0; index < 50; index += 1) queue.add(request('x'));
    expect(clock.timers).toBe(1);
    queue.close();
    expect(clock.timers).toBe(0);
    clock.advance(10_000);
    expect(flushed).toEqual([]);
  });
});

describe('flushing a queue', () => {
  it('sends what one scope has waiting and leaves the rest its window', () => {
    const queue = queueWith();
    const [one, other] = [scope(), scope()];
    queue.add(request('a', one));
    queue.add(request('b', other));
    queue.add(request('c', one));
    queue.flush(one);
    expect(flushed).toEqual([{ at: 0, names: ['a', 'c'], reason: 'flush' }]);
    clock.advance(100);
    expect(flushed[1]).toEqual({ at: 100, names: ['b'], reason: 'window' });
  });

  it('sends what anyone has waiting', () => {
    const queue = queueWith();
    queue.add(request('a', scope()));
    queue.add(request('b', scope()));
    queue.flush();
    expect(flushed).toEqual([{ at: 0, names: ['a', 'b'], reason: 'flush' }]);
  });

  it('of nothing does nothing', () => {
    const queue = queueWith();
    queue.flush();
    queue.add(request('a'));
    queue.flush(scope());
    queue.flush();
    queue.flush();
    clock.advance(10_000);
    expect(flushed).toHaveLength(1);
  });
});

describe('a call that is taken out of its queue', () => {
  it('is not sent', () => {
    const queue = queueWith();
    const [a, b] = [request('a'), request('b')];
    queue.add(a);
    queue.add(b);
    queue.remove(a);
    queue.remove(a);
    clock.advance(100);
    expect(flushed).toEqual([{ at: 100, names: ['b'], reason: 'window' }]);
  });

  it('leaves nothing to send when it was the last', () => {
    const queue = queueWith();
    const a = request('a');
    queue.add(a);
    queue.remove(a);
    clock.advance(10_000);
    expect(flushed).toEqual([]);
  });
});

describe('a scope that waits for its last answers', () => {
  it('waits for no company, but for the calls of the same turn', () => {
    const queue = queueWith();
    const ending = scope(true);
    queue.add(request('a', ending));
    queue.add(request('b', ending));
    expect(flushed).toEqual([]);
    clock.advance(0);
    expect(flushed).toEqual([{ at: 0, names: ['a', 'b'], reason: 'flush' }]);
  });

  it('leaves the calls of others their window', () => {
    const queue = queueWith();
    queue.add(request('a'));
    clock.advance(30);
    queue.add(request('b', scope(true)));
    clock.advance(0);
    expect(flushed).toEqual([{ at: 30, names: ['b'], reason: 'flush' }]);
    clock.advance(10_000);
    expect(flushed[1]).toMatchObject({ names: ['a'], reason: 'window' });
  });

  it('does not make another one wait that ends in the same turn', () => {
    const queue = queueWith();
    queue.add(request('a', scope(true)));
    queue.add(request('b', scope(true)));
    clock.advance(1);
    expect(flushed.flatMap((flush) => flush.names).sort()).toEqual(['a', 'b']);
  });
});
