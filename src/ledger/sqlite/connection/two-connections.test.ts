import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, good, openBench } from '../../conformance/subject.test-helper.ts';
import { awaitCheckpoint } from '../test/await-checkpoint.test-helper.ts';
import { prepareLock } from '../test/hold-lock.test-helper.ts';
import { killOwner, openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';
import { loadDriver } from './driver.ts';

async function openTwice(options: { patience?: number } = {}) {
  const path = join(temporaryFolder(), 'ledger.db');
  const bench = (more: { patience?: number } = {}) =>
    openBench({
      name: 'SQLite',
      open: (given) => openTemporary({ ...given, ...more, path }),
      kill: { skip: 'not needed' },
    });
  const [one, two] = [await bench(options), await bench()];
  // On a busy machine a log is copied by now, which holds the lock and counts as a change.
  for (const { ledger } of [two, one]) await awaitCheckpoint(ledger);
  return { path, one, two };
}

describe('two connections to one ledger', () => {
  it('admit every request once', async () => {
    const { one, two } = await openTwice();
    const asks = Array.from({ length: 2_000 }, (_, number) => ({
      fingerprint: fingerprintOf(number),
      occurrence: 0,
      queue: one.queue,
      cache: true,
    }));
    const both = await Promise.all([
      one.ledger.admit(one.me, asks),
      two.ledger.admit(two.me, asks),
    ]);
    const mine = both.flat().filter(({ is }) => is === 'mine');
    expect(new Set(mine.map(({ request }) => request)).size).toBe(2_000);
    expect(mine).toHaveLength(2_000);
  });

  it('tell each other that something changed', async () => {
    const { one, two } = await openTwice();
    const before = await two.ledger.changed();
    expect(await two.ledger.changed()).toBe(before);
    await one.settle(1);
    expect(await two.ledger.changed()).not.toBe(before);
    expect(await two.ask(1)).toMatchObject({ is: 'answered', answer: good });
  });

  it('know the owners of each other without dropping their locks', async () => {
    const { one, two } = await openTwice();
    await one.ask(1);
    expect(await two.ask(1)).toMatchObject({ is: 'wait' });
    await one.ledger.leave(one.me);
    expect(await two.ask(1)).toMatchObject({ is: 'mine' });
  });

  it('count an owner as here while its lock cannot be looked at', async () => {
    const { path, one, two } = await openTwice();
    await one.ask(1);
    await killOwner(one.ledger, one.me);
    const [row] = await query(path, `SELECT lock FROM owner WHERE id = ${one.me}`);
    const file = join(`${path}.owners`, (row as { lock: string }).lock);
    writeFileSync(file, 'no database'.repeat(100));
    expect(await two.ask(1)).toMatchObject({ is: 'wait' });
    writeFileSync(file, '');
    await expect.poll(() => two.ask(1)).toMatchObject({ is: 'mine' });
  });

  it('tell the log what the lock of another one has kept them from, and go on', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const told: unknown[] = [];
    const log = (...line: unknown[]) => void told.push(line);
    const ledger = await openTemporary({ path, patience: 0, logger: { debug: log, warn: log } });
    const owner = await ledger.join({ run: 'told', host: 'here', pid: 1 });
    const release = (await prepareLock(path))();
    await ledger.leave(owner);
    release();
    const error = expect.stringContaining('another process has held its lock');
    expect(told).toEqual([
      ['batchling could not note in the ledger that this owner has left', { error }],
    ]);
  });

  it('wait for a lock without holding up the event loop', async () => {
    const { path, one } = await openTwice();
    const { DatabaseSync } = await loadDriver();
    const blocker = new DatabaseSync(path, { timeout: 0 });
    blocker.exec('BEGIN IMMEDIATE');
    // A wait that blocks the event loop would never end.
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
      if (turns === 10) blocker.exec('COMMIT');
    }, 1);
    expect(await one.ask(1)).toMatchObject({ is: 'mine' });
    clearInterval(turning);
    blocker.close();
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  it('give up when a lock is held for too long, and say what to do', async () => {
    const { path, one } = await openTwice({ patience: 50 });
    const { DatabaseSync } = await loadDriver();
    const blocker = new DatabaseSync(path, { timeout: 0 });
    blocker.exec('BEGIN IMMEDIATE');
    await expect(one.ask(1)).rejects.toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/another process has held its lock.*End that process/),
    });
    blocker.exec('ROLLBACK');
    blocker.close();
    expect(await one.ask(1)).toMatchObject({ is: 'mine' });
  });
});
