import { execFile } from 'node:child_process';
import { readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { compiledProgram } from '../../../../test/support/processes/compiled.ts';
import { runProgram } from '../../../../test/support/processes/run-program.ts';
import { openBench } from '../../conformance/subject.test-helper.ts';
import { openTemporary, temporaryFolder } from '../test/temporary.test-helper.ts';
import { Checkpoints } from './checkpoints.ts';
import { loadDriver } from './driver.ts';

const run = promisify(execFile);
const megabyte = 2 ** 20;
const [major = 0] = process.versions.node.split('.').map(Number);
const noThreads = [
  major < 24 ? '--experimental-permission' : '--permission',
  ...['--allow-fs-read=*', '--allow-fs-write=*', '--allow-addons'],
];

interface Written {
  readonly bytes: number;
  readonly longest: number;
  readonly last: number;
  readonly threads: number;
}

async function writeMuch(folder: string, ...flags: string[]): Promise<Written> {
  const program = await compiledProgram('write-much');
  const { stdout } = await run(process.execPath, [...flags, program, join(folder, 'ledger.db')]);
  return JSON.parse(stdout);
}

describe('the write-ahead log of a program that writes much', () => {
  it('is copied by a thread, does not grow, and is gone in the end', async () => {
    const { bytes, longest, last, threads } = await writeMuch(temporaryFolder());
    expect(threads).toBe(1);
    expect(bytes).toBeGreaterThan(60 * megabyte);
    // A log that never begins anew holds every page, so it is longer than the ledger. How long it is at most depends
    // on the disk: steps are counted in milliseconds.
    expect(longest).toBeLessThan(bytes);
    expect(last).toBe(0);
  });

  it('is copied in a program that may have no threads', async () => {
    const { bytes, longest, last, threads } = await writeMuch(temporaryFolder(), ...noThreads);
    expect(threads).toBe(0);
    expect(bytes).toBeGreaterThan(60 * megabyte);
    expect(longest).toBeLessThan(bytes);
    expect(last).toBe(0);
  });

  it('is copied by a thread that loads nothing of the program', async () => {
    const folder = temporaryFolder();
    const [preloaded, loads] = [join(folder, 'preloaded.mjs'), join(folder, 'loads')];
    const text = `import { appendFileSync } from 'node:fs';\nappendFileSync(${JSON.stringify(loads)}, 'x');`;
    writeFileSync(preloaded, text);
    const { threads } = await writeMuch(folder, '--import', pathToFileURL(preloaded).href);
    expect(threads).toBe(1);
    expect(readFileSync(loads, 'utf8')).toBe('x');
  });
});

describe('a program that exits while its log is copied', () => {
  it('ends with the exit code that it has chosen', async () => {
    const { code, stderr } = await runProgram('exit-in-a-step', {
      path: join(temporaryFolder(), 'ledger.db'),
    });
    expect({ code, stderr }).toEqual({ code: 9, stderr: '' });
  });
});

describe('the write-ahead log', () => {
  it('needs no thread where little is written', async () => {
    const threads: Worker[] = [];
    const onThread = (thread: Worker) => threads.push(thread);
    process.on('worker', onThread);
    const { DatabaseSync, source } = await loadDriver();
    const path = join(temporaryFolder(), 'ledger.db');
    const database = new DatabaseSync(path, { timeout: 0 });
    const checkpoints = new Checkpoints(database, { path, source, log: () => {} });
    try {
      checkpoints.written(30);
      await checkpoints.truncate();
      checkpoints.written(30);
      expect(threads).toEqual([]);
      checkpoints.written(30);
      await checkpoints.close();
      expect(threads).toHaveLength(1);
    } finally {
      process.off('worker', onThread);
      database.close();
    }
  });

  it('has to be on the disk before a batch is created', async () => {
    const path = join(temporaryFolder(), 'ledger.db');
    const { ledger, me, queue, ask } = await openBench({
      name: 'SQLite',
      open: (options) => openTemporary({ ...options, path }),
      kill: { skip: 'not needed' },
    });
    const { request } = await ask(1);
    const lease = await ledger.plan(me, { token: 'token', queue, tags: {} }, [request]);
    renameSync(`${path}-wal`, `${path}-away`);
    // A link to nowhere is in its place: on a busy machine a checkpoint begins here, and would make a new log.
    symlinkSync(`${path}-nowhere/log`, `${path}-wal`);
    const creating = () => ledger.creating(lease, {}, { alone: false });
    await expect(creating()).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
    unlinkSync(`${path}-wal`);
    renameSync(`${path}-away`, `${path}-wal`);
    await expect(creating()).resolves.toBe(true);
  });
});
