import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { messageOf } from '../../base/errors.ts';
import { writeAll } from '../disk/write-all.ts';
import { isPackedName } from '../input/prepare-input.ts';

const compress = promisify(gzip);

/** Where output lines go. */
export interface Output {
  write(text: string): Promise<void>;
  /** What was written is on the disk. */
  sync(): Promise<void>;
  /** Bytes so far; `undefined`: it cannot be cut, so it cannot be resumed. */
  readonly bytes: number | undefined;
  close(): Promise<void>;
}

/** A file that is cut to what is known to be whole, and appended to. With `.gz` each page is a member of its own. */
export class OutputFile implements Output {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #isCompressed: boolean;
  bytes: number;

  /** @param bytes - how much of it counts; what follows is cut. */
  static async open(
    path: string,
    bytes: number,
    isCompressed = isPackedName(path),
  ): Promise<OutputFile> {
    const file = await open(path, bytes === 0 ? 'w' : 'r+');
    if (bytes > 0) await file.truncate(bytes);
    return new OutputFile(file, path, bytes, isCompressed);
  }

  private constructor(file: FileHandle, path: string, bytes: number, isCompressed: boolean) {
    this.#file = file;
    this.#path = path;
    this.#isCompressed = isCompressed;
    this.bytes = bytes;
  }

  async write(text: string): Promise<void> {
    if (text === '') return;
    const bytes = this.#isCompressed ? await compress(text) : Buffer.from(text);
    try {
      await writeAll(this.#file, bytes, this.bytes);
    } catch (error) {
      throw new Error(
        `${this.#path} cannot be written: ${messageOf(error)}. Once that is mended, the same command goes on from there.`,
        { cause: error },
      );
    }
    this.bytes += bytes.length;
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Output to a pipe: what is written is gone. */
export class OutputStream implements Output {
  readonly #stream: NodeJS.WritableStream;
  readonly bytes = undefined;

  constructor(stream: NodeJS.WritableStream) {
    this.#stream = stream;
  }

  async write(text: string): Promise<void> {
    if (text === '') return;
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {}
}
