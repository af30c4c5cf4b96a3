import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, openBench } from '../../conformance/subject.test-helper.ts';
import { awaitCheckpoint } from '../test/await-checkpoint.test-helper.ts';
import { prepareLock } from '../test/hold-lock.test-helper.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

const many = 9_000;

async function openAt(path: string, more: { patience?: number } = {}) {
  const bench = await openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, ...more, path }),
    kill: { skip: 'not needed' },
  });
  const asksFor = (numbers: readonly number[]) =>
    numbers.map((number) => {
      return { fingerprint: fingerprintOf(number), occurrence: 0, queue: bench.queue, cache: true };
    });
  return { ...bench, asksFor };
}

async function entries(path: string): Promise<unknown> {
  const [counts] = await query(
    path,
    `SELECT (SELECT count(*) FROM identity) AS sorted, (SELECT count(*) FROM identity_new) AS fresh,
       (SELECT count(*) FROM request) AS requests`,
  );
  return counts;
}

describe('the identities of requests', () => {
  it('are sorted in when they are many, and found before and after', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, asksFor } = await openAt(path);
    const other = await openAt(path);
    const numbers = Array.from({ length: many }, (_, index) => index);
    const first = await ledger.admit(me, asksFor(numbers.slice(0, many / 2)));
    expect(await entries(path)).toEqual({ sorted: 0, fresh: many / 2, requests: many / 2 });
    const second = await other.ledger.admit(other.me, asksFor(numbers));
    expect(second.map(({ is }) => is)).toEqual([
      ...Array(many / 2).fill('wait'),
      ...Array(many / 2).fill('mine'),
    ]);
    expect(await entries(path)).toEqual({ sorted: many, fresh: 0, requests: many });
    const all = [...first, ...second.slice(many / 2)].map(({ request }) => request);
    const again = await ledger.admit(me, asksFor(numbers));
    expect(again.map(({ is }) => is)).toEqual(Array(many).fill('wait'));
    expect(again.map(({ request }) => request)).toEqual(all);
  });

  it('hold up no admission while another process writes, and are sorted in by a later one', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    // With the patience that everything else has, the admission would not come back before the lock.
    const { ledger, me, asksFor, ask } = await openAt(path, { patience: 3_600_000 });
    const numbers = Array.from({ length: 8_200 }, (_, index) => index);
    await ledger.admit(me, asksFor(numbers.slice(0, -10)));
    // The admission itself has to be before the lock.
    await awaitCheckpoint(ledger);
    const lock = await prepareLock(path);
    const admitting = ledger.admit(me, asksFor(numbers.slice(-10)));
    const unlock = lock();
    expect(await admitting).toHaveLength(10);
    unlock();
    expect(await entries(path)).toMatchObject({ sorted: 0, fresh: 8_200 });
    await ask(many);
    expect(await entries(path)).toMatchObject({ sorted: 8_000, fresh: 201 });
  });

  it('go with their requests, wherever they are', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, asksFor, ask } = await openAt(path);
    const numbers = Array.from({ length: many }, (_, index) => index);
    const admitted = await ledger.admit(me, asksFor(numbers));
    const { request } = await ask(many);
    await ledger.withdraw(me, [...admitted.slice(0, 2).map((one) => one.request), request]);
    expect(await entries(path)).toEqual({ sorted: many - 2, fresh: 0, requests: many - 2 });
    expect(await ask(1)).toMatchObject({ is: 'mine' });
    expect(await ask(many)).toMatchObject({ is: 'mine' });
    await ledger.leave(me);
    expect(await ledger.prune({ olderThan: -1 })).toMatchObject({ requests: many });
    expect(await entries(path)).toEqual({ sorted: 0, fresh: 0, requests: 0 });
  });

  it('tell apart fingerprints that begin alike, and occurrences', async () => {
    const { ledger, me, queue } = await openAt(join(temporaryFolder(), 'ledger.db'));
    const ask = (last: number, occurrence: number) => {
      const fingerprint = new Uint8Array(32).fill(last, 6);
      return { fingerprint, occurrence, queue, cache: true };
    };
    const asks = [ask(1, 0), ask(2, 0), ask(1, 1), ask(1, 0)];
    const admissions = await ledger.admit(me, asks);
    expect(admissions.map(({ is }) => is)).toEqual(['mine', 'mine', 'mine', 'wait']);
    const again = await ledger.admit(me, asks);
    expect(again.map(({ request }) => request)).toEqual(admissions.map(({ request }) => request));
  });
});
