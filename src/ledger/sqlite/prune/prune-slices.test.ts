import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { REQUEST } from '../../sql/codes.ts';
import { loadDriver } from '../connection/driver.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';

async function openAt(options: Pick<LedgerOptions, 'keep'> = {}) {
  const path = join(temporaryFolder(), 'ledger.db');
  const open = (more?: LedgerOptions) => openTemporary({ ...more, path });
  const bench = await openBench({ name: 'SQLite', open, kill: { skip: 'not needed' } }, options);
  return { path, ...bench };
}

async function execute(path: string, sql: string): Promise<void> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(path, { timeout: 1_000 });
  database.exec(sql);
  database.close();
}

function numbers(count: number): string {
  return `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number LIMIT ${count})`;
}

/** Answered requests of an owner that has left, each with random bytes for a fingerprint. */
async function addRequests(path: string, count: number, owner: number, at: number) {
  await execute(
    path,
    `${numbers(count)}
     INSERT INTO request (fp, occ, generation, queue, owner, state, attempt, at)
     SELECT randomblob(32), 0, 0, 1, ${owner}, ${REQUEST.answered}, 0, ${at} FROM number;
     INSERT INTO identity (prefix, occ, request)
     SELECT substr(fp, 1, 6), occ, id FROM request
     WHERE id NOT IN (SELECT request FROM identity UNION ALL SELECT request FROM identity_new);`,
  );
}

/** How often the event loop turned while this ran. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns += 1;
    immediate = setImmediate(count);
  });
  await work;
  clearImmediate(immediate);
  return turns;
}

const counts = `SELECT (SELECT count(*) FROM request) AS requests,
  (SELECT count(*) FROM identity) + (SELECT count(*) FROM identity_new) AS identities,
  (SELECT count(*) FROM request WHERE id IN (
     SELECT request FROM identity UNION ALL SELECT request FROM identity_new
  )) AS known`;

describe('leaving with keep: "none"', () => {
  it('lets the event loop turn while it looks through the answers of others', async () => {
    const { path, ledger, me } = await openAt({ keep: 'none' });
    await execute(
      path,
      `${numbers(5_000)} INSERT INTO answer (request, status, headers, body)
       SELECT '[1]', 200, '[]', x'00' FROM number`,
    );
    expect(await turnsOf(ledger.leave(me))).toBeGreaterThanOrEqual(10);
  });
});

describe('pruning thousands', () => {
  it('drops requests with their identities, and leaves the other requests alone', async () => {
    const { clock, path, ledger, join: joinLedger } = await openAt();
    const gone = await joinLedger();
    await ledger.leave(gone);
    await addRequests(path, 3_000, gone, 1_000);
    await addRequests(path, 500, gone, 9_000);
    clock.time = 10_000;
    const pruning = ledger.prune({ olderThan: 5_000 });
    expect(await turnsOf(pruning)).toBeGreaterThanOrEqual(6);
    expect(await pruning).toMatchObject({ requests: 3_000 });
    expect(await query(path, counts)).toEqual([{ requests: 500, identities: 500, known: 500 }]);
  });

  it('does not drop what another process has taken up since', async () => {
    const { clock, path, ledger, me, join: joinLedger, ask, settle } = await openAt();
    const gone = await joinLedger();
    await addRequests(path, 3_000, gone, 1_000);
    // By its id and by its fingerprint it is the last one.
    const last = 0xffff_ffff;
    const request = await settle(last, { status: 200, headers: {}, body: 'kept' }, gone);
    await ledger.leave(gone);
    // Another process comes in after the first requests have gone.
    await execute(
      path,
      `CREATE TRIGGER takes_up AFTER DELETE ON identity
       BEGIN UPDATE request SET owner = ${me} WHERE id = ${request}; END`,
    );
    clock.time = 10_000;
    expect(await ledger.prune({ olderThan: 5_000 })).toMatchObject({ requests: 3_000 });
    expect(await ask(last)).toMatchObject({ request, is: 'answered' });
  });

  it('drops requests whose identities were removed before the process was killed', async () => {
    const { clock, path, ledger, join: joinLedger, settle, ask } = await openAt();
    const gone = await joinLedger();
    const request = await settle(7, undefined, gone);
    await ledger.leave(gone);
    await execute(path, 'DELETE FROM identity; DELETE FROM identity_new');
    const again = await ask(7);
    expect(again.is).toBe('mine');
    clock.time = 10_000;
    expect(await ledger.prune({ olderThan: 5_000 })).toMatchObject({ requests: 1 });
    const ids = await query(path, 'SELECT id FROM request');
    expect(ids).toEqual([{ id: again.request }]);
    expect(again.request).not.toBe(request);
  });

  it('stops at the size that was asked for', async () => {
    const { path, ledger, join: joinLedger } = await openAt();
    const gone = await joinLedger();
    await ledger.leave(gone);
    await addRequests(path, 4_000, gone, 1_000);
    await execute(
      path,
      `INSERT INTO answer (id, request, status, headers, body)
       SELECT id, '[' || id || ']', 200, '[]', zeroblob(10000) FROM request;
       UPDATE request SET answer = id;`,
    );
    const { requests } = await ledger.prune({ maxBytes: 20_000_000 });
    // A page holds one such answer: some 16 KB each, of which about 20 MB stay.
    expect(requests).toBeGreaterThan(2_500);
    expect(requests).toBeLessThan(3_800);
  });
});

describe('counts of runs', () => {
  it('go with their run, thousands of them in slices, and not before', async () => {
    const { clock, path, ledger, join: joinLedger, ask } = await openAt();
    const gone = await joinLedger('old');
    const alive = await joinLedger('new');
    await ledger.leave(gone);
    await ask(1, { owner: alive, occurrence: 'next' });
    await execute(
      path,
      `${numbers(5_000)} INSERT INTO run_count (run, fp, n) SELECT 'old', randomblob(32), 1 FROM number`,
    );
    clock.time = 10_000;
    expect(await turnsOf(ledger.prune({ olderThan: 5_000 }))).toBeGreaterThanOrEqual(3);
    expect(await query(path, 'SELECT run, count(*) AS count FROM run_count GROUP BY run')).toEqual([
      { run: 'new', count: 1 },
    ]);
    const again = await ask(1, { owner: alive, occurrence: 'next' });
    expect(again).toMatchObject({ occurrence: 1 });
  });
});
