import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BatchlingError } from '../../base/errors.ts';
import { loadDriver } from '../../ledger/sqlite/connection/driver.ts';
import { type BatchifyOptions, resolveOptions } from '../../options/index.ts';
import { useEngine } from './engines.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batchling-engines-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function use(options: BatchifyOptions = {}) {
  return useEngine(resolveOptions({ store: join(folder, 'ledger.db'), ...options }));
}

async function runsIn(path: string): Promise<unknown[]> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    return (database.prepare('SELECT run FROM owner').all() as { run: unknown }[]).map(
      ({ run }) => run,
    );
  } finally {
    database.close();
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

describe('the engine of a process', () => {
  it('is one per store, for all who come before it is open and after', async () => {
    const [one, two] = await Promise.all([use(), use()]);
    const three = await use();
    expect(two.engine).toBe(one.engine);
    expect(three.engine).toBe(one.engine);
    expect(existsSync(join(folder, 'ledger.db'))).toBe(true);
    await Promise.all([one, two, three].map((user) => user.release()));
  });

  it('is another for another store', async () => {
    const one = await use();
    const other = await use({ store: join(folder, 'other.db') });
    expect(other.engine).not.toBe(one.engine);
    await Promise.all([one.release(), other.release()]);
  });

  it('is another for who keeps other things, or has another way out', async () => {
    const dispatcher = new Agent();
    const users = await Promise.all([
      use(),
      use({ keep: 'none' }),
      use({ dispatcher }),
      use({ keep: 'none' }),
    ]);
    const [one, sparing, elsewhere, sparingToo] = users.map(({ engine }) => engine);
    expect(new Set([one, sparing, elsewhere]).size).toBe(3);
    expect(sparingToo).toBe(sparing);
    await Promise.all(users.map((user) => user.release()));
  });

  it('in memory is not kept for every way out there ever was', async () => {
    const [one, other] = [new Agent(), new Agent()];
    const inMemory = (dispatcher: Agent) => use({ store: ':memory:', dispatcher });
    const first = await inMemory(one);
    await first.release();
    const again = await inMemory(one);
    expect(again.engine).toBe(first.engine);
    await again.release();
    await (await inMemory(other)).release();
    const late = await inMemory(one);
    expect(late.engine).not.toBe(first.engine);
    await late.release();
  });

  it('stays open until the last has left, and each can leave once only', async () => {
    const [one, two] = await Promise.all([use(), use()]);
    const left = one.release();
    expect(one.release()).toBe(left);
    await left;
    await one.release();
    const three = await use();
    expect(three.engine).toBe(two.engine);
    await Promise.all([two.release(), three.release()]);
  });

  it('is a new one after the last has left', async () => {
    const one = await use();
    await one.release();
    const two = await use();
    expect(two.engine).not.toBe(one.engine);
    await two.release();
  });

  it('is a new one for who comes while the last is leaving', async () => {
    const one = await use();
    const leaving = one.release();
    const two = await use();
    await leaving;
    expect(two.engine).not.toBe(one.engine);
    await two.engine.flush();
    await two.release();
  });

  it('in memory stays for the next scope, which wants what it knows', async () => {
    const one = await use({ store: ':memory:' });
    await one.release();
    const two = await use({ store: ':memory:' });
    expect(two.engine).toBe(one.engine);
    await two.release();
  });
});

describe('a store that cannot be used', () => {
  it('fails everybody who waits, with a clear error, and is tried again', async () => {
    const store = join(folder, 'broken.db');
    writeFileSync(store, 'this is no database, and long enough to be looked at'.repeat(100));
    const errors = await Promise.all([failureOf(use({ store })), failureOf(use({ store }))]);
    for (const error of errors) expect(BatchlingError.isInstance(error)).toBe(true);
    rmSync(store);
    const working = await use({ store });
    await working.release();
  });

  it('is not left open when it cannot be joined', async () => {
    const store = join(folder, 'ledger.db');
    await (await use()).release();
    const { DatabaseSync } = await loadDriver();
    const database = new DatabaseSync(store, { timeout: 1_000 });
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON owner BEGIN
      SELECT RAISE(ABORT, 'nobody may join');
    END`);
    expect(statSync(`${store}-wal`).size).toBeGreaterThan(0);
    expect(await failureOf(use())).toMatchObject({ cause: { message: 'nobody may join' } });
    // A ledger that is closed leaves nothing in its log.
    expect(statSync(`${store}-wal`).size).toBe(0);
    database.exec('DROP TRIGGER full');
    database.close();
    await (await use()).release();
  });
});

describe('the name of the run', () => {
  it.each(['with space', '../up', 'x'.repeat(65), 'semi;colon'])(
    'is refused when it is %j',
    async (name) => {
      vi.stubEnv('BATCHLING_RUN', name);
      expect(await failureOf(use())).toMatchObject({
        code: 'INVALID_OPTION',
        facts: { option: 'BATCHLING_RUN' },
      });
    },
  );

  it.each(['run-1.a_B', 'x'.repeat(64)])('may be %j, and the ledger knows it', async (name) => {
    vi.stubEnv('BATCHLING_RUN', name);
    await (await use()).release();
    expect(await runsIn(join(folder, 'ledger.db'))).toEqual([name]);
  });

  it('is one of its own where none is given', async () => {
    vi.stubEnv('BATCHLING_RUN', '');
    await (await use()).release();
    expect(await runsIn(join(folder, 'ledger.db'))).toEqual([expect.stringMatching(/^[\w-]{36}$/)]);
  });
});
