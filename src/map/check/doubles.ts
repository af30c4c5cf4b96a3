import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAll } from '../disk/write-all.ts';

/** A hash of 16 bytes and the number of its line. */
const recordBytes = 24;
const hashBytes = 16;
/** So many records are held in memory, 5 MB, before they go to the disk. */
const heldRecords = 200_000;
/** By its first byte a record belongs to one bucket, and a bucket is looked at as a whole. */
const buckets = 256;

/** A line that has the same hash as lines before it. */
export interface Double {
  readonly line: number;
  /** The first line with that hash. */
  readonly first: number;
  /** How many lines before it have that hash. */
  readonly nth: number;
}

interface Segment {
  readonly offset: number;
  readonly length: number;
}

/**
 * Finds lines with equal hashes among any number of lines, in bounded memory: hashes are sorted into buckets on the
 * disk, which are looked at one by one.
 */
export class Doubles {
  readonly #path: string;
  readonly #held = Buffer.allocUnsafe(heldRecords * recordBytes);
  #count = 0;
  #file: FileHandle | undefined;
  #written = 0;
  readonly #segments: Segment[][] = Array.from({ length: buckets }, () => []);

  constructor(folder: string, name: string) {
    this.#path = join(folder, name);
  }

  /** `hash`: a character per byte. Lines come in their order. A promise: the disk has to be waited for. */
  add(hash: string, line: number): Promise<void> | undefined {
    const at = this.#count * recordBytes;
    this.#held.write(hash, at, hashBytes, 'latin1');
    this.#held.writeDoubleLE(line, at + hashBytes);
    this.#count += 1;
    return this.#count === heldRecords ? this.#spill() : undefined;
  }

  /** All doubles, in the order of lines within each hash. */
  async *found(stopped: AbortSignal): AsyncGenerator<Double> {
    if (this.#file === undefined) {
      yield* doublesIn(this.#held.subarray(0, this.#count * recordBytes), new Map());
      return;
    }
    await this.#spill();
    for (const segments of this.#segments) {
      stopped.throwIfAborted();
      const seen: Seen = new Map();
      for (const { offset, length } of segments) {
        const records = Buffer.allocUnsafe(length);
        await this.#file.read(records, 0, length, offset);
        yield* doublesIn(records, seen);
      }
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #spill(): Promise<void> {
    this.#file ??= await open(this.#path, 'w+', 0o600);
    const sorted = Buffer.allocUnsafe(this.#count * recordBytes);
    const ends = new Uint32Array(buckets + 1);
    for (let at = 0; at < sorted.length; at += recordBytes) {
      const bucket = this.#held[at] as number;
      ends[bucket + 1] = (ends[bucket + 1] as number) + recordBytes;
    }
    for (let bucket = 0; bucket < buckets; bucket += 1) {
      const [offset, length] = [ends[bucket] as number, ends[bucket + 1] as number];
      if (length > 0) this.#segments[bucket]?.push({ offset: this.#written + offset, length });
      ends[bucket + 1] = offset + length;
    }
    for (let at = 0; at < sorted.length; at += recordBytes) {
      const bucket = this.#held[at] as number;
      const place = ends[bucket] as number;
      this.#held.copy(sorted, place, at, at + recordBytes);
      ends[bucket] = place + recordBytes;
    }
    await writeAll(this.#file, sorted, this.#written);
    this.#written += sorted.length;
    this.#count = 0;
  }
}

/** The hashes of lines: the first one, and how many there are. */
type Seen = Map<string, { readonly first: number; count: number }>;

function* doublesIn(records: Buffer, seen: Seen): Generator<Double> {
  for (let at = 0; at < records.length; at += recordBytes) {
    const hash = records.toString('latin1', at, at + hashBytes);
    const line = records.readDoubleLE(at + hashBytes);
    const known = seen.get(hash);
    if (known === undefined) {
      seen.set(hash, { first: line, count: 1 });
      continue;
    }
    yield { line, first: known.first, nth: known.count };
    known.count += 1;
  }
}
