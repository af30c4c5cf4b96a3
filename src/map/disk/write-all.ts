import type { FileHandle } from 'node:fs/promises';

/** A disk that becomes full takes a part of what it is given, and only refuses the next write. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
