import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { good, openBench } from '../conformance/subject.test-helper.ts';
import { prepareLock } from './test/hold-lock.test-helper.ts';
import { killOwner, openTemporary, temporaryFolder } from './test/temporary.test-helper.ts';

async function openAt(path: string) {
  return openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, path, patience: 50 }),
    kill: { skip: 'not needed' },
  });
}

describe('a claim that fails half way', () => {
  it('leaves the batch to the next one who tries', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const [dead, one, two] = [await openAt(path), await openAt(path), await openAt(path)];
    const { lease, requests } = await dead.send([1, 2, 3]);
    await dead.ledger.collected(lease, [{ request: requests[0]!, is: 'answer', answer: good }]);
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
