import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of its own that can be filled to the last byte. */
export interface TinyDisk {
  readonly folder: string;
  fill(): void;
  free(): void;
  close(): Promise<void>;
}

/** Why there are no tiny disks here, or nothing. */
export function whyNoTinyDisk(): string | undefined {
  if (process.platform !== 'linux') return 'tmpfs is a file system of Linux';
  if (process.getuid?.() !== 0) return 'only root may mount';
  return undefined;
}

export async function mountTinyDisk(size: string): Promise<TinyDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'batchling-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'pipe' });
  const ballast = join(folder, 'ballast');
  return {
    folder,
    fill: () => writeUntilFull(ballast),
    free: () => rmSync(ballast, { force: true }),
    async close() {
      // Lazily: a process that was just killed may have files open for a moment.
      execFileSync('umount', ['-l', folder], { stdio: 'pipe' });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = 65_536; size >= 1; ) {
      try {
        if (writeSync(file, Buffer.alloc(size)) < size) size >>= 1;
      } catch {
        size >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}
