import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BatchlingError } from '../../../base/errors.ts';
import { good, openBench } from '../../conformance/subject.test-helper.ts';
import { migrations } from '../schema/migrate.ts';
import { openTemporary, query, temporaryFolder } from '../test/temporary.test-helper.ts';
import { openSqliteLedger } from './open-sqlite.ts';

const isRoot = process.getuid?.() === 0;
const mayMount = spawnSync('unshare', ['-rm', 'true']).status === 0;

async function benchAt(path: string) {
  const open = openTemporary;
  return openBench({
    name: 'SQLite',
    open: (options) => open({ ...options, path }),
    kill: { skip: 'not needed' },
  });
}

async function failure(path: string): Promise<BatchlingError> {
  const error = await openSqliteLedger({ path, patience: 100 }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!BatchlingError.isInstance(error)) throw new Error(`Expected a BatchlingError: ${error}`);
  expect(error.facts).toMatchObject({ store: path });
  expect(error.message).toContain(path);
  return error;
}

describe('opening a ledger', () => {
  it('makes files and folders that only their user can read, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      const folder = join(temporaryFolder(), 'a', 'b');
      const path = join(folder, 'ledger.db');
      const { settle } = await benchAt(path);
      await settle(1);
      const mode = (file: string) => statSync(file).mode & 0o777;
      const locks = readdirSync(`${path}.owners`).map((name) => join(`${path}.owners`, name));
      const files = [path, `${path}-wal`, `${path}-shm`, ...locks];
      expect(files.map(mode)).toEqual([0o600, 0o600, 0o600, 0o600]);
      expect([folder, join(folder, '..'), `${path}.owners`].map(mode)).toEqual([
        0o700, 0o700, 0o700,
      ]);
    } finally {
      process.umask(before);
    }
  });

  it('closes a file that was readable by others', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    await (await openTemporary({ path })).close();
    chmodSync(path, 0o644);
    await openTemporary({ path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('finds everything again', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const first = await benchAt(path);
    await first.settle(1);
    const { lease } = await first.send([2]);
    await first.ledger.close();
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    expect(readdirSync(`${path}.owners`)).toEqual([]);

    const second = await benchAt(path);
    expect(second.ledger.salt).toEqual(first.ledger.salt);
    expect(second.queue).toBe(first.queue);
    expect(await second.ask(1)).toMatchObject({ is: 'answered', answer: good });
    expect(await second.ledger.claimable()).toEqual([lease.batch]);
  });

  it('sees the same owners through a symbolic link', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'ledger.db');
    const first = await benchAt(path);
    await first.ask(1);
    mkdirSync(join(folder, 'elsewhere'));
    const link = join(folder, 'elsewhere', 'link.db');
    symlinkSync(path, link);
    const second = await benchAt(link);
    expect(await second.ask(1)).toMatchObject({ is: 'wait' });
    expect(existsSync(`${link}.owners`)).toBe(false);
  });

  it('refuses to work after close, and says so', async () => {
    const { ledger, ask } = await benchAt(join(temporaryFolder(), 'ledger.db'));
    await ledger.close();
    await expect(ask(1)).rejects.toMatchObject({ code: 'STORE_UNUSABLE', message: /is closed/ });
  });

  it('keeps no credential: what it is given of one is a hash and the name of its variable', async () => {
    const folder = temporaryFolder();
    const { ledger, send } = await benchAt(join(folder, 'ledger.db'));
    await ledger.account({
      provider: 'openai',
      hash: new Uint8Array(32).fill(5),
      hint: 'env:OPENAI_API_KEY',
    });
    await send([1]);
    await ledger.close();
    // The salt is random, and may look like anything.
    const salt = Buffer.from(ledger.salt).toString('latin1');
    const bytes = readFileSync(join(folder, 'ledger.db'), 'latin1').replaceAll(salt, '');
    expect(bytes).toContain('env:OPENAI_API_KEY');
    expect(bytes).not.toMatch(/sk-|bearer|authorization|api-key/i);
  });
});

describe('a ledger that cannot be used', () => {
  it('is a folder', async () => {
    const error = await failure(temporaryFolder());
    expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: /is a folder.*Name a file/ });
  });

  it.runIf(process.platform !== 'win32')('is a pipe, which stays as it is', async () => {
    const path = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', ['-m', '666', path]);
    expect(await failure(path)).toMatchObject({ message: /is a device or a pipe. Name a file/ });
    expect(statSync(path).mode & 0o777).toBe(0o666);
  });

  it('lies below a file', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    const error = await failure(join(folder, 'file', 'ledger.db'));
    expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: /is a file, not a folder/ });
    expect(error.cause).toBeDefined();
  });

  it.runIf(existsSync('/proc/self'))('lies where no folder can be made', async () => {
    for (const path of ['/proc/batchling/deep/ledger.db', '/proc/ledger.db']) {
      const error = await failure(path);
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: /cannot be made/ });
    }
  });

  it.runIf(mayMount)('lies on a read-only mount', () => {
    const folder = temporaryFolder();
    const there = join(folder, 'ledger.db');
    const missing = join(folder, 'deep', 'down', 'ledger.db');
    const script = `
      mount -t tmpfs tmpfs "$1" && "$2" --import tsx -e "$3" "$4" &&
      mount -o remount,ro "$1" && "$2" --import tsx -e "$3" "$4" "$5"`;
    const module = new URL('open-sqlite.ts', import.meta.url).href;
    const opening = `import('${module}').then(async ({ openSqliteLedger }) => {
      for (const path of process.argv.slice(1)) {
        await openSqliteLedger({ path }).then(
          (ledger) => ledger.close(),
          ({ message }) => console.log(message));
      }
    })`;
    const given = [folder, process.execPath, opening, there, missing];
    const { stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', ...given], {
      encoding: 'utf8',
    });
    const because = (path: string) =>
      `The ledger ${path} cannot be used: its file system is read-only. Choose another store.\n`;
    expect(stdout).toBe(because(there) + because(missing));
  });

  it('is no database', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    writeFileSync(path, 'not a database, but long enough to look like one '.repeat(100));
    const error = await failure(path);
    expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: /no SQLite database/ });
    expect(error.cause).toBeDefined();
  });

  it('is damaged', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    await (await openTemporary({ path })).close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, 100));
    expect(await failure(path)).toMatchObject({ code: 'STORE_UNUSABLE', message: /is damaged/ });
  });

  it('is the database of another program', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    await query(path, 'CREATE TABLE invoice (id INTEGER)');
    expect(await failure(path)).toMatchObject({ message: /database of another program/ });
  });

  it('was written by a newer batchling', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    await (await openTemporary({ path })).close();
    await query(path, "UPDATE meta SET value = 99 WHERE key = 'schema'");
    const error = await failure(path);
    expect(error).toMatchObject({
      code: 'STORE_NEWER',
      message: /schema 99.*up to \d+.*Update batchling/,
      facts: { schema: 99, known: migrations.newest },
    });
  });

  it.skipIf(isRoot)(
    'lies in a read-only folder (skipped for root, whom modes do not stop)',
    async () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o500);
      const error = await failure(join(folder, 'ledger.db'));
      chmodSync(folder, 0o700);
      expect(error).toMatchObject({ code: 'STORE_UNUSABLE', message: /permissions/ });
    },
  );
});
