import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { BatchlingError } from '../../base/errors.ts';
import { brokenLine, oneEach } from '../lines/line-format.ts';
import { type InputLine, type InputPart, longestLine, type Position } from './input-part.ts';

const blockBytes = 256 * 1024;
const lineFeed = 10;
const carriageReturn = 13;

/** Lines that were read together, and where the next ones begin. */
export interface LinePage {
  readonly lines: readonly InputLine[];
  readonly next: Position;
}

const pageLines = 500;
/** A page with long lines has fewer of them: several are in memory at a time. */
const pageBytes = 4 * 1024 * 1024;

/**
 * The lines of the input from a position on, up to the line `until`, in pages. `next` of a page can be given as `from`
 * of another reading. Empty lines are skipped and have no number. An abort of `stopped` ends a reading.
 */
export async function* readLines(
  parts: readonly InputPart[],
  from: Position,
  until: number,
  stopped?: AbortSignal,
): AsyncGenerator<LinePage> {
  if (from.line >= until) return;
  let { line } = from;
  for (let at = from.part; at < parts.length; at += 1) {
    const part = parts[at] as InputPart;
    const start = at === from.part ? from.offset : 0;
    const file = await open(part.path, 'r');
    try {
      const reader = new PartReader(file, start, part.shown);
      await refuseChanged(file, part);
      let lines: InputLine[] = [];
      let pageStart = start;
      // The place in the file is only known to a reading that began there.
      let place = start === 0 ? 0 : Number.NaN;
      for (let text = await reader.next(); text !== undefined; text = await reader.next()) {
        place += 1;
        if (text.trim() === '') continue;
        lines.push({ number: line, text, part, place });
        line += 1;
        const isFull = lines.length === pageLines || reader.offset - pageStart >= pageBytes;
        if (!isFull && line < until) continue;
        stopped?.throwIfAborted();
        await refuseChanged(file, part);
        yield { lines, next: { part: at, offset: reader.offset, line } };
        if (line >= until) return;
        lines = [];
        pageStart = reader.offset;
      }
      await refuseChanged(file, part);
      yield { lines, next: { part: at + 1, offset: 0, line } };
    } finally {
      await file.close();
    }
  }
}

/** Lines are read when they are asked, and again when their answers are written: they must be the same ones. */
async function refuseChanged(file: FileHandle, { shown, file: before }: InputPart): Promise<void> {
  const { size, mtimeMs, ino } = await file.stat();
  if (size === before.size && mtimeMs === before.mtimeMs && ino === before.ino) return;
  throw new Error(
    `${shown} has changed while it was read, so the job has stopped. Run it again with --restart: answers that the ` +
      'ledger has are not paid again.',
  );
}

/** Letters of other encodings would come to the model as question marks. */
const notUtf8 = brokenLine('it is not text in UTF-8: convert the file with iconv');

/** Lines of one file. A line that has no line feed at the end of the file is one, too. */
class PartReader {
  /** Where the next line begins. */
  offset: number;
  readonly #file: FileHandle;
  readonly #shown: string;
  #block: Buffer = Buffer.alloc(0);
  /** How far the block is used. */
  #at = 0;
  /** All lines that end in the block are text. Asked for each of them, it would cost much more. */
  #isText = true;
  #isOver = false;

  constructor(file: FileHandle, offset: number, shown: string) {
    this.#file = file;
    this.offset = offset;
    this.#shown = shown;
  }

  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.#block.indexOf(lineFeed, this.#at);
      if (end >= 0) return this.#take(end, 1);
      if (this.#isOver) {
        return this.#at < this.#block.length ? this.#take(this.#block.length, 0) : undefined;
      }
      await this.#readMore();
    }
  }

  #take(end: number, feed: number): string {
    const start = this.#at;
    const isFirst = this.offset === 0;
    this.#at = end + feed;
    this.offset += end + feed - start;
    const last = end > start && this.#block[end - 1] === carriageReturn ? end - 1 : end;
    if (!this.#isText && !isUtf8(this.#block.subarray(start, last))) return notUtf8;
    const text = this.#block.toString('utf8', start, last);
    return isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text;
  }

  async #readMore(): Promise<void> {
    const rest = this.#block.length - this.#at;
    if (rest >= longestLine) throw tooLong(this.#shown, this.offset);
    // A line may be longer than a block.
    const next = Buffer.allocUnsafe(rest + Math.max(blockBytes, rest));
    this.#block.copy(next, 0, this.#at);
    const position = this.offset + rest;
    const { bytesRead } = await this.#file.read(next, rest, next.length - rest, position);
    this.#block = next.subarray(0, rest + bytesRead);
    this.#at = 0;
    this.#isOver = bytesRead === 0;
    const end = this.#isOver ? this.#block.length : this.#block.lastIndexOf(lineFeed) + 1;
    this.#isText = isUtf8(this.#block.subarray(0, end));
  }
}

function tooLong(shown: string, offset: number): BatchlingError {
  const message = `${shown} has a line of more than ${longestLine >> 20} MB, from byte ${offset} on: ${oneEach}`;
  return new BatchlingError('BAD_INPUT', message);
}
