import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { bad, good, openBench, settleWithCosts } from '../../conformance/subject.test-helper.ts';
import { loadDriver } from '../connection/driver.ts';
import { OwnerLocks } from '../owners/owner-locks.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';
import { migrations } from './migrate.ts';

/**
 * Written by a program of schema 1, which has left: 1 is answered without a batch; of a batch that is
 * still accepted 2 and 3 are answered, 4 has failed, and 5 waits, with its body spooled.
 */
const oldLedger = new URL('../test/schema-1.db.gz', import.meta.url);

function openOld() {
  const path = join(temporaryFolder(), 'ledger.db');
  writeFileSync(path, gunzipSync(readFileSync(oldLedger)));
  const open = () =>
    openBench({
      name: 'SQLite',
      open: (options) => openTemporary({ ...options, path }),
      kill: { skip: 'not needed' },
    });
  return { path, open };
}

describe('a ledger of schema 1', () => {
  it('is brought up to date with all that is in it', async () => {
    const { path, open } = openOld();
    const schema = () => query(path, "SELECT value FROM meta WHERE key = 'schema'");
    expect(await schema()).toEqual([{ value: 1 }]);

    const { ledger, me, ask } = await open();
    expect(await schema()).toEqual([{ value: migrations.newest }]);
    expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
    expect(await ask(2)).toMatchObject({ is: 'answered', answer: { body: 'answer to 2' } });
    expect(await ask(3)).toMatchObject({ is: 'answered', answer: { body: 'answer to 3' } });
    expect(await ask(4, { waiting: true })).toMatchObject({ is: 'answered', answer: bad });
    const waiting = await ask(5);
    expect(waiting).toMatchObject({ is: 'wait', batch: expect.any(Number) });

    const [batch] = await ledger.claimable();
    const claimed = await ledger.claim(me, batch!);
    expect(claimed).toMatchObject({ state: 'accepted', cursor: 'cursor-1' });
    expect(claimed?.members.map(({ settled }) => settled)).toEqual([true, true, true, false]);
    expect((await ledger.bodies([waiting.request])).get(waiting.request)).toBe('body of 5');
    const answer = { ...good, body: 'answer to 5' };
    await ledger.collected(claimed!.lease, [{ request: waiting.request, is: 'answer', answer }]);
    await ledger.ended(claimed!.lease);
    expect(await ask(5)).toMatchObject({ is: 'answered', answer });
  });

  it('is migrated once when two open it at the same moment', async () => {
    const { open } = openOld();
    const both = await Promise.all([open(), open()]);
    for (const { ask } of both) expect(await ask(1)).toMatchObject({ is: 'answered' });
  });

  it('is left as it is while an older program works with it', async () => {
    const { path, open } = openOld();
    const locks = new OwnerLocks(await loadDriver(), path);
    const lock = locks.hold();
    await query(
      path,
      `INSERT INTO owner (run, host, pid, lock, joined_at) VALUES ('run', 'here', 4711, '${lock}', 1)`,
    );
    await expect(open()).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/process 4711 on here .* older version.*Run again when/),
    });
    expect(await query(path, "SELECT value FROM meta WHERE key = 'schema'")).toEqual([
      { value: 1 },
    ]);
    locks.release(lock);
    const { ask } = await open();
    expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
  });
});

it('totals of the days begin with what the batches know', async () => {
  const path = join(temporaryFolder(), 'ledger.db');
  const open = () =>
    openBench({
      name: 'SQLite',
      open: (options) => openTemporary({ ...options, path }),
      kill: { skip: 'not needed' },
    });
  const old = await open();
  await settleWithCosts(old);
  const totals = { by: ['day', 'model', 'name', 'tag', 'lane'] } as const;
  const before = await old.ledger.costs(totals);
  expect(before).toMatchObject([{ name: 'nightly', tag: 'a=1', calls: 2, paid: 1, estimate: 3 }]);
  await old.ledger.close();
  for (const later of [
    'TABLE daily_cost',
    'TABLE outbox',
    'INDEX answer_failed',
    'INDEX batch_failed',
    'INDEX request_waiting',
  ]) {
    await query(path, `DROP ${later}`);
  }
  await query(path, 'ALTER TABLE batch DROP COLUMN traces');
  await query(path, 'ALTER TABLE owner DROP COLUMN troubles');
  await query(path, "UPDATE meta SET value = 6 WHERE key = 'schema'");
  expect(await (await open()).ledger.costs(totals)).toEqual(before);
});
