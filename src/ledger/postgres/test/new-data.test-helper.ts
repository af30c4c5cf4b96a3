import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binaries, serverUser } from './binaries.test-helper.ts';
import { copyFolder } from './copy-folder.test-helper.ts';

/** A part of the name: data that another version of these flags has made is left alone. */
const VERSION = 1;
const FLAGS = [
  '--username=tester',
  '--auth=password',
  '--no-sync',
  '--encoding=UTF8',
  '--locale=C',
  // Small files are copied sooner.
  '--wal-segsize=1',
  // A password is hashed with each connection.
  '--set=scram_iterations=1',
  '--set=password_encryption=scram-sha-256',
];

const cache = fileURLToPath(new URL('../../../../node_modules/.cache/postgres', import.meta.url));

/** Fills a folder with the data of a server that was never used. Making them takes long, so they are kept. */
export function fillWithNewData(folder: string): void {
  const kept = join(cache, `data-${VERSION}-${process.getuid?.() ?? ''}`);
  if (!existsSync(kept)) keepNewData(kept);
  copyFolder(kept, folder);
}

function keepNewData(kept: string): void {
  const work = mkdtempSync(join(tmpdir(), 'batchling-initdb-'));
  if (serverUser.uid !== undefined) chownSync(work, serverUser.uid, serverUser.gid);
  const password = join(work, 'password');
  writeFileSync(password, 'hunter2\n', { mode: 0o644 });
  const flags = [`--pgdata=${join(work, 'data')}`, `--pwfile=${password}`, ...FLAGS];
  execFileSync(join(binaries(work), 'initdb'), flags, { ...serverUser, cwd: work, stdio: 'pipe' });
  mkdirSync(dirname(kept), { recursive: true });
  const copy = mkdtempSync(`${kept}-`);
  copyFolder(join(work, 'data'), join(copy, 'data'));
  try {
    renameSync(join(copy, 'data'), kept);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(kept)) throw error;
  }
  for (const folder of [copy, work]) rmSync(folder, { recursive: true, force: true });
}
