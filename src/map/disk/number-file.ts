import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAll } from './write-all.ts';

const numberBytes = 8;

/** A number for each line, on the disk: memory must not grow with the input. A number that was never set is 0. */
export class NumberFile {
  readonly #path: string;
  #opening: Promise<FileHandle> | undefined;

  constructor(folder: string, name: string) {
    this.#path = join(folder, name);
  }

  async set(line: number, numbers: Float64Array): Promise<void> {
    this.#opening ??= open(this.#path, 'w+', 0o600);
    const file = await this.#opening;
    const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    await writeAll(file, bytes, line * numberBytes);
  }

  async get(line: number, count: number): Promise<Float64Array> {
    const numbers = new Float64Array(count);
    const file = await this.#opening;
    // Beyond the end of the file nothing was set.
    await file?.read(Buffer.from(numbers.buffer), 0, count * numberBytes, line * numberBytes);
    return numbers;
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
    this.#opening = undefined;
  }
}
