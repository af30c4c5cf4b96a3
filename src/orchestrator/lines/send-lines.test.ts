import { beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../capture/accounts.ts';
import { type EngineParts, engineParts } from '../engine-parts.test-helper.ts';
import type { Batch } from '../model/batch.ts';
import type { CallTarget, EngineScope } from '../model/call.ts';
import { Queues } from '../queue/queues.ts';
import { Budgets } from '../submit/budgets.ts';
import { Permits } from '../submit/permit.ts';
import { LineGroup } from './line-group.ts';
import { LineSender } from './send-lines.ts';

const policy = {
  lane: 'batch' as const,
  window: 100,
  maxWindow: 1_000,
  batchSize: 2,
  completionWindow: 86_400_000,
  attempts: 3,
};

let parts: EngineParts;
let sent: Batch[];
let openKinds: boolean;
let keepsBodies: boolean;

beforeEach(async () => {
  parts = await engineParts();
  sent = [];
  openKinds = true;
  keepsBodies = false;
});

function sender(): LineSender {
  const { context, queue, http } = parts;
  const accounts = new Accounts(context.ledger, http, 'trusted');
  const services = {
    bodies: queue.bodies,
    clientRetries: queue.clientRetries as never,
    sendOrdinary: () => undefined,
    gate: {} as never,
    laneOf: async (_queue: unknown, wanted: EngineScope['policy']['lane']) => wanted,
  };
  const protocol = {
    async send(batch: Batch) {
      batch.moveTo({ name: 'creating' });
      sent.push(batch);
      const remote = { id: 'b', state: 'running', raw: 'x', readable: false, sources: {} } as const;
      batch.moveTo({ name: 'running', remote, acceptedAt: 0 });
    },
  };
  return new LineSender(context, {
    accounts,
    queues: new Queues(context, services, () => undefined),
    permits: new Permits(context),
    budgets: new Budgets(context),
    protocol: protocol as never,
    life: { live: async () => undefined } as never,
    keepsBodies,
    isOpen: () => openKinds,
  });
}

function group(count: number, more: Partial<EngineScope> = {}): LineGroup {
  const { queue, scopeWith } = parts;
  const target = {
    batcher: queue.batcher,
    provider: 'openai',
    base: 'api.openai.com',
    wireBase: queue.wire.base,
    path: '/chat/completions',
    query: '',
    configured: false,
    credentials: {},
  } as unknown as CallTarget;
  const scope = scopeWith({ policy, policyKey: 'p', minBatch: 1, canary: 'call', ...more });
  const lines = new LineGroup({ scope, headers: { authorization: 'Bearer sk' }, size: count });
  for (let place = 0; place < count; place += 1) {
    const json = { model: 'm', messages: [{ role: 'user', content: `line ${place}` }] };
    lines.add({ place, target, body: JSON.stringify(json), json, occurrence: 0, fresh: false });
  }
  return lines;
}

const placesOf = (batches: readonly { places: Uint32Array }[]) =>
  batches.map(({ places }) => [...places]);

describe('lines that are sent in bulk', () => {
  it('are admitted and planned together, in batches of the size that is asked for', async () => {
    const { rows, answered, batches } = await sender().send(group(3));
    const left = await Promise.all(batches.map((batch) => batch.left));
    expect(placesOf(batches)).toEqual([[0, 1], [2]]);
    expect([...rows].every((row) => row > 0)).toBe(true);
    expect(answered).toEqual([]);
    expect(left.map((batch) => batch?.count)).toEqual([2, 1]);
    expect((await parts.context.ledger.list({ open: true })).map(({ count }) => count)).toEqual([
      1, 2,
    ]);
  });

  it('are wanted although nobody waits for them, so that their batch is created', async () => {
    const { batches } = await sender().send(group(1));
    await batches[0]?.left;
    expect(sent.map(({ isWanted, isLeft }) => [isWanted, isLeft])).toEqual([[true, true]]);
  });

  it.each<[string, Partial<EngineScope>]>([
    ['have a deadline', { deadline: 1_000 }],
    ['take another lane', { policy: { ...policy, lane: 'flex' } }],
    ['are too few for a batch', { minBatch: 10 }],
    ['prime a cache', { primeCache: true }],
    ['may have to leave a slow batch', { onSlow: 'flex' }],
  ])('are none of those that %s: these are asked as calls', async (_name, more) => {
    const { rows, batches } = await sender().send(group(3, more));
    expect([...rows, ...batches]).toEqual([0, 0, 0]);
  });

  it('are none whose kind still has to be tried', async () => {
    openKinds = false;
    expect((await sender().send(group(2))).batches).toEqual([]);
  });

  it('are none whose bodies the ledger is to keep', async () => {
    keepsBodies = true;
    expect((await sender().send(group(2))).batches).toEqual([]);
  });

  it('are none that are asked for already, and do not look as if they were', async () => {
    const lines = sender();
    const before = await lines.send(group(1));
    const { rows, batches } = await lines.send(group(2));
    await Promise.all([...before.batches, ...batches].map(({ left }) => left));
    expect(placesOf(batches)).toEqual([[1]]);
    expect(rows[0]).toBe(0);
    expect(rows[1]).toBeGreaterThan(0);
  });

  it('are given back where they cannot be planned, and hold no slot', async () => {
    const { ledger } = parts.context;
    ledger.plan = async () => {
      throw new Error('The disk is full.');
    };
    const { batches } = await sender().send(group(2));
    expect(await batches[0]?.left).toBeUndefined();
    expect(sent).toEqual([]);
    const other = parts.queue.account.slots.acquire(1, new AbortController().signal);
    await expect(other).resolves.toBeUndefined();
  });
});

describe('answers on their way to a job', () => {
  it('are those of its own lines, until they are released', async () => {
    const { rows, batches } = await sender().send(group(2));
    await batches[0]?.left;
    const answer = { status: 200, headers: {}, body: 'yes', json: {} };
    sent[0]?.onAnswer?.(rows[0] as number, answer);
    expect(batches[0]?.answers.get(rows[0] as number)).toEqual({ ...answer, json: undefined });
    batches[0]?.answers.release();
    expect(batches[0]?.answers.get(rows[0] as number)).toBeUndefined();
  });

  it('are left to the ledger where memory has no room for them', async () => {
    const { rows, batches } = await sender().send(group(4));
    const large = { status: 200, headers: {}, body: 'x'.repeat(3 * 1024 * 1024) };
    await Promise.all(batches.map(({ left }) => left));
    sent.forEach((batch, index) => {
      batch.onAnswer?.(rows[index * 2] as number, large);
    });
    const kept = batches.map(({ answers }, index) => answers.get(rows[index * 2] as number));
    expect(kept.map((answer) => answer !== undefined)).toEqual([true, false]);
    batches[0]?.answers.release();
    sent[1]?.onAnswer?.(rows[2] as number, large);
    expect(batches[1]?.answers.get(rows[2] as number)).toBeDefined();
  });
});
