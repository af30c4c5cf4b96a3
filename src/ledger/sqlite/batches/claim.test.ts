import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { good, openBench } from '../../conformance/subject.test-helper.ts';
import type { RequestId, Settlement } from '../../ledger.ts';
import { prepareLock } from '../test/hold-lock.test-helper.ts';
import { killOwner, openTemporary, temporaryFolder } from '../test/temporary.test-helper.ts';

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

describe('a claim of a batch whose owner has left and still writes', () => {
  // More than are read in one turn.
  const numbers = Array.from({ length: 2_001 }, (_, index) => index);

  async function claimWhile(settlement: (request: RequestId) => Settlement) {
    const path = join(temporaryFolder(), 'ledger.db');
    const [old, next] = [await openAt(path), await openAt(path)];
    const { lease, requests } = await old.send(numbers);
    await old.ledger.leave(old.me);
    const claiming = next.ledger.claim(next.me, lease.batch);
    // The first members are read by then.
    await new Promise((resolve) => setImmediate(resolve));
    await old.ledger.collected(lease, [settlement(requests[0]!)]);
    return { claimed: await claiming, requests };
  }

  it('knows what was answered while members were read', async () => {
    const { claimed } = await claimWhile((request) => ({ request, is: 'answer', answer: good }));
    expect(claimed?.members).toHaveLength(numbers.length);
    expect(claimed?.members.filter(({ settled }) => settled)).toEqual([claimed?.members[0]]);
  });

  it('does not list who left the batch while members were read', async () => {
    const { claimed, requests } = await claimWhile((request) => ({ request, is: 'retry' }));
    expect(claimed?.members.map(({ request }) => request)).toEqual(requests.slice(1));
  });
});

describe('a claim of a batch from a time when the clock was ahead', () => {
  it('has it created and accepted just now, not in the future', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const [dead, next] = [await openAt(path), await openAt(path)];
    dead.clock.time = 3_600_000;
    const { lease } = await dead.send([1]);
    await killOwner(dead.ledger, dead.me);
    next.clock.time = 2_000;
    const claimed = await next.ledger.claim(next.me, lease.batch);
    expect(claimed).toMatchObject({ creatingAt: 2_000, acceptedAt: 2_000 });
  });
});
