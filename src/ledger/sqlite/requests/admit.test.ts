import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

async function openAt(path: string) {
  return openBench({
    name: 'SQLite',
    open: (options) => openTemporary({ ...options, path }),
    kill: { skip: 'not needed' },
  });
}

describe('an admission of many', () => {
  it('that fails in a later transaction leaves nothing that nobody would send', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, queue } = await openAt(path);
    const other = await openAt(path);
    const asks = Array.from({ length: 700 }, (_, occurrence) => {
      return { fingerprint: new Uint8Array(32), occurrence, queue, cache: true };
    });
    await query(
      path,
      `CREATE TRIGGER full BEFORE INSERT ON request WHEN NEW.occ = 600
       BEGIN SELECT RAISE(ABORT, 'no room'); END`,
    );
    await expect(ledger.admit(me, asks)).rejects.toThrow();
    expect(await query(path, 'SELECT count(*) AS requests FROM request')).toEqual([
      { requests: 0 },
    ]);
    const [first] = await other.ledger.admit(other.me, asks.slice(0, 1));
    expect(first).toMatchObject({ is: 'mine' });
  });

  it('decides about known and new requests in the order of the asks', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, queue } = await openAt(path);
    const other = await openAt(path);
    const asks = Array.from({ length: 1_200 }, (_, occurrence) => {
      return { fingerprint: new Uint8Array(32), occurrence, queue, cache: true };
    });
    const isKnown = (occurrence: number) => occurrence % 3 === 0;
    const known = asks.filter(({ occurrence }) => isKnown(occurrence));
    const before = await other.ledger.admit(other.me, known);
    const all = await ledger.admit(me, asks);
    expect(all.map(({ occurrence }) => occurrence)).toEqual(asks.map((_, index) => index));
    expect(all.map(({ is }) => is)).toEqual(
      asks.map(({ occurrence }) => (isKnown(occurrence) ? 'wait' : 'mine')),
    );
    const waiting = all.filter(({ is }) => is === 'wait').map(({ request }) => request);
    expect(waiting).toEqual(before.map(({ request }) => request));
  });
});
