import { beforeEach, describe, expect, it } from 'vitest';
import type { Remote } from '../../batchers/batcher.ts';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import type { EngineScope } from '../model/call.ts';
import type { Request } from '../model/request.ts';
import { Deadlines } from './deadlines.ts';

let parts: EngineParts;
let withdrawn: Request[];
let deadlines: Deadlines;

beforeEach(async () => {
  parts = await engineParts();
  withdrawn = [];
  deadlines = new Deadlines(parts.context, {
    withdraw: (requests) => withdrawn.push(...requests),
    sendOrdinary: () => undefined,
  });
});

/** A request whose caller has a second. */
async function due(name: string, onDeadline: EngineScope['onDeadline'] = 'error') {
  const request = await parts.request(name, parts.scopeWith({ onDeadline }));
  const [caller] = request.waiting;
  if (!caller) throw new Error('It is waited for');
  caller.dueAt = parts.clock.now() + 1_000;
  deadlines.add(caller);
  return { request, caller };
}

async function pass(milliseconds: number): Promise<void> {
  parts.clock.advance(milliseconds);
  await parts.work.done();
}

describe('a call that is in no batch at its deadline', () => {
  it('is told then, and not before', async () => {
    await due('a');
    await pass(999);
    expect(parts.told('a')).toBeUndefined();
    await pass(1);
    expect(parts.told('a')).toBe(504);
  });

  it('goes out as an ordinary call, after its request was withdrawn, if its scope wishes', async () => {
    const { request } = await due('a', 'realtime');
    await pass(1_000);
    expect(parts.told('a')).toBe('realtime');
    expect(withdrawn).toEqual([request]);
  });

  it('stays, if another owner may be paying for it', async () => {
    const { request } = await due('a', 'realtime');
    request.goElsewhere();
    await pass(1_000);
    expect(parts.told('a')).toBeUndefined();
    expect(withdrawn).toEqual([]);
  });

  it('leaves its request to a caller that has time', async () => {
    const { request } = await due('a', 'realtime');
    request.join(parts.callerOf('b'));
    await pass(1_000);
    expect(parts.told('a')).toBe('realtime');
    expect(withdrawn).toEqual([]);
    expect(request.isWanted).toBe(true);
  });
});

describe('a call in a batch under way at its deadline', () => {
  const remote: Remote = {
    id: 'batch_1',
    state: 'running',
    raw: 'x',
    readable: false,
    sources: {},
  };

  async function underWay(requests: readonly Request[]) {
    const batch = await parts.planned(requests);
    const cancelled: string[] = [];
    parts.queue.batcher.cancel = async (_wire, { id }) => void cancelled.push(id);
    batch.moveTo({ name: 'creating' });
    batch.moveTo({ name: 'running', remote, acceptedAt: parts.clock.now() });
    return cancelled;
  }

  it('is cancelled there, and told after ten minutes in which nothing has come', async () => {
    const { request } = await due('a');
    const cancelled = await underWay([request]);
    await pass(1_000);
    expect(cancelled).toEqual(['batch_1']);
    expect(parts.told('a')).toBeUndefined();
    await pass(10 * 60_000);
    expect(parts.told('a')).toBe(504);
  });

  it('is not cancelled while others have time: it is told, and the batch goes on', async () => {
    const { request } = await due('a');
    const cancelled = await underWay([request, await parts.request('b')]);
    await pass(1_000);
    expect(cancelled).toEqual([]);
    expect(parts.told('a')).toBe(504);
    expect(parts.told('b')).toBeUndefined();
  });

  it('waits for the end of its batch, however long, if it is to go out as an ordinary call', async () => {
    const { request } = await due('a', 'realtime');
    const cancelled = await underWay([request]);
    await pass(1_000);
    await pass(24 * 3_600_000);
    expect(cancelled).toEqual(['batch_1']);
    expect(parts.told('a')).toBeUndefined();
  });
});
