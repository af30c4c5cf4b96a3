import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { good, openBench } from '../../conformance/subject.test-helper.ts';
import type { BatchId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { awaitCheckpoint } from '../test/await-checkpoint.test-helper.ts';
import { prepareLock } from '../test/hold-lock.test-helper.ts';
import { killOwner, openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

async function openAt(path: string, more: { patience?: number } = {}) {
  return openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, ...more, path }),
    kill: { skip: 'not needed' },
  });
}

describe('a claim that fails half way', () => {
  it('leaves the batch to the next owner that tries', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const [dead, two] = [await openAt(path), await openAt(path)];
    // Only the one that is to fail gives up soon: others may have to wait while a log is copied.
    const one = await openAt(path, { patience: 50 });
    const { lease, requests } = await dead.send([1, 2, 3]);
    await dead.ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }]);
    // The lock itself waits for nobody, not even for a log that is being copied.
    for (const { ledger } of [dead, two, one]) await awaitCheckpoint(ledger);
    await killOwner(dead.ledger, dead.me);

    const lock = await prepareLock(path);
    const claiming = one.ledger.claim(one.me, lease.batch);
    const unlock = lock();
    await expect(claiming).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    unlock();

    expect(await two.ledger.claimable()).toEqual([lease.batch]);
    const claimed = await two.ledger.claim(two.me, lease.batch);
    expect(claimed?.members.map(({ settled }) => settled)).toEqual([true, false, false]);
    expect(await one.ledger.claim(one.me, lease.batch)).toBeUndefined();
  });
});

describe('a claim during which members change', () => {
  // More than are read in one turn.
  const numbers = Array.from({ length: 2_001 }, (_, index) => index);

  async function claimWhile(change: (request: RequestId, batch: BatchId) => string[]) {
    const path = join(temporaryFolder(), 'ledger.db');
    const [old, next] = [await openAt(path), await openAt(path)];
    const { lease, requests } = await old.send(numbers);
    await old.ledger.leave(old.me);
    const claiming = next.ledger.claim(next.me, lease.batch);
    // The first members are read by then. An owner whose lock was lost does not know that it is gone.
    await new Promise((resolve) => setImmediate(resolve));
    for (const sql of change(requests[0]!, lease.batch)) await query(path, sql);
    return { claimed: await claiming, requests };
  }

  it('knows what was answered while members were read', async () => {
    const { claimed } = await claimWhile((request, batch) => [
      `INSERT INTO answer (id, request, status, headers, body)
       VALUES (1, '[${request}]', 200, '{}', x'0000000000000000')`,
      `INSERT INTO answer_new (answer, batch, count, state, owner, at)
       VALUES (1, ${batch}, 1, ${REQUEST.answered}, 1, 1000)`,
    ]);
    expect(claimed?.members).toHaveLength(numbers.length);
    expect(claimed?.members.filter(({ settled }) => settled)).toEqual([claimed?.members[0]]);
  });

  it('does not list a request that left the batch while members were read', async () => {
    const { claimed, requests } = await claimWhile((request) => [
      `UPDATE request SET state = ${REQUEST.admitted}, batch = NULL, seq = NULL
       WHERE id = ${request}`,
    ]);
    expect(claimed?.members.map(({ request }) => request)).toEqual(requests.slice(1));
  });
});
