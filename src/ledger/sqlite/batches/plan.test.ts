import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bad, fingerprintOf, openBench } from '../../conformance/subject.test-helper.ts';
import { awaitCheckpoint } from '../test/await-checkpoint.test-helper.ts';
import { prepareLock } from '../test/hold-lock.test-helper.ts';
import { killOwner, openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

/** More than fit into one transaction. */
const many = 2_501;

async function openAt(path: string, more: { patience?: number } = {}) {
  return openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, ...more, path }),
    kill: { skip: 'not needed' },
  });
}

async function admitMany() {
  const path = join(temporaryFolder(), 'ledger.db');
  // Only this one gives up soon: the other one may have to wait while a log is copied.
  const bench = await openAt(path, { patience: 50 });
  const { ledger, me, queue } = bench;
  const asks = Array.from({ length: many }, (_, number) => {
    return { fingerprint: fingerprintOf(number), occurrence: 0, queue, cache: true };
  });
  const requests = (await ledger.admit(me, asks)).map(({ request }) => request);
  const other = await openAt(path);
  // The first transaction of the plan must not have to wait, and the lock after it cannot.
  for (const one of [other.ledger, ledger]) await awaitCheckpoint(one);
  const plan = () => ledger.plan(me, { token: 'plan', queue, tags: {} }, requests);
  return { ...bench, path, requests, plan, other };
}

/** A plan whose second part fails, and undoing it as well. */
async function failHalfWay() {
  const bench = await admitMany();
  const lock = await prepareLock(bench.path);
  const planning = bench.plan();
  const unlock = lock();
  await expect(planning).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  unlock();
  expect(await look(bench.path)).toEqual({ members: many - 1, batches: 1 });
  return bench;
}

async function look(path: string): Promise<unknown> {
  const [counts] = await query(
    path,
    `SELECT (SELECT count(*) FROM request WHERE batch IS NOT NULL) AS members,
       (SELECT count(*) FROM batch) AS batches`,
  );
  return counts;
}

describe('a plan that fails in its second part', () => {
  it('is undone at once', async () => {
    const { path, ledger, me, requests, plan, other } = await admitMany();
    const planning = plan();
    await ledger.withdraw(me, requests.slice(-1));
    await expect(planning).rejects.toMatchObject({ code: 'INVARIANT' });
    expect(await look(path)).toEqual({ members: 0, batches: 0 });
    await ledger.leave(me);
    expect(await other.ask(0)).toMatchObject({ is: 'mine' });
  });

  it('can be made again when undoing it failed, too', async () => {
    const { path, ledger, plan, requests } = await failHalfWay();
    await plan();
    expect(await look(path)).toEqual({ members: requests.length, batches: 1 });
    expect(await ledger.list()).toMatchObject([{ state: 'planned' }]);
  });

  it('lets its requests have an outcome', async () => {
    const { path, ledger, me, requests, other } = await failHalfWay();
    const settlements = requests.map(
      (request) => ({ request, is: 'answer', answer: bad }) as const,
    );
    await ledger.settled(me, settlements);
    expect(await other.ask(1, { waiting: true })).toMatchObject({ is: 'answered', answer: bad });
    expect(await look(path)).toEqual({ members: 0, batches: 0 });
  });

  it('lets its requests be withdrawn, and asked for by others', async () => {
    const { path, ledger, me, requests, other } = await failHalfWay();
    await ledger.withdraw(me, requests);
    expect(await other.ask(1)).toMatchObject({ is: 'mine' });
    expect(await look(path)).toEqual({ members: 0, batches: 0 });
  });

  it('is undone when its owner leaves', async () => {
    const { path, ledger, me } = await failHalfWay();
    await ledger.leave(me);
    expect(await look(path)).toEqual({ members: 0, batches: 0 });
  });

  it('is undone by a prune when its owner was killed', async () => {
    const { path, ledger, me, other } = await failHalfWay();
    // Everything, also what came into its state at this very moment.
    const olderThan = -1;
    expect(await other.ledger.prune({ olderThan })).toMatchObject({ requests: 0 });
    await killOwner(ledger, me);
    expect(await other.ledger.prune({ olderThan })).toMatchObject({ requests: many });
    expect(await look(path)).toEqual({ members: 0, batches: 0 });
  });
});
