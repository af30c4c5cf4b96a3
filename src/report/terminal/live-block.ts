import { stripVTControlCharacters } from 'node:util';
import { patch } from '../../hooks/patch-registry.ts';
import { type DisplayStream, truncated, widthOf } from './terminal.ts';

/** How often the block is compared with what is drawn, in milliseconds. */
const frame = 250;
/** How long lines that stay wait for the program to end its own line. */
const lineEndPatience = 5_000;
const mostRows = 11;
/** Enough characters to find the end of a line before codes that reset colours. */
const tail = 40;

type Write = NodeJS.WriteStream['write'];

/**
 * A block of lines at the end of a terminal that is redrawn in place. The cursor stays visible below
 * it, so that a killed program leaves a tidy terminal. What the program writes goes above the block,
 * and a line that the program has not ended is not touched.
 */
export class LiveBlock {
  readonly #stream: DisplayStream;
  readonly #paint: (line: string) => string;
  readonly #others: readonly NodeJS.WriteStream[];
  #block: (() => readonly string[]) | undefined;
  /** The lines on the screen now. */
  #drawn: readonly string[] = [];
  #undo: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The current write is our own. */
  #isWriting = false;
  /** When the program began a line that it has not ended. */
  #openLineSince: number | undefined;
  #held: string[] = [];

  constructor(
    stream: DisplayStream,
    /** Adds colours to a line; they take no columns. */
    paint: (line: string) => string,
    others: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr],
  ) {
    this.#stream = stream;
    this.#paint = paint;
    this.#others = others;
  }

  /** Draws the lines that the function returns, until `close`. */
  open(block: () => readonly string[]): void {
    if (this.#block) return;
    this.#block = block;
    for (const stream of this.#others) {
      if (stream.isTTY) this.#undo.push(patch(stream, 'write', (write) => this.#wrap(write)));
    }
    this.#timer = setInterval(() => this.#tick(), frame).unref();
  }

  /** Prints lines that stay, above the block. */
  print(lines: readonly string[]): void {
    this.#held.push(...lines);
    if (this.#openLineSince === undefined) this.#printHeld();
  }

  /** Removes the block; the lines that stay remain. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#block = undefined;
    this.#erase();
    this.#printHeld();
    for (const undo of this.#undo.splice(0)) undo();
  }

  #tick(): void {
    if (this.#openLineSince !== undefined) {
      const isLong = Date.now() - this.#openLineSince >= lineEndPatience;
      if (this.#held.length > 0 && isLong) this.#printHeld();
      return;
    }
    this.#draw();
  }

  #printHeld(): void {
    if (this.#held.length === 0) return;
    const begin = this.#openLineSince === undefined ? '' : '\n';
    this.#openLineSince = undefined;
    const text = this.#held.splice(0).map((line) => `${this.#paint(line)}\n`);
    this.#write(`${this.#erasing()}${begin}${text.join('')}`);
    this.#drawn = [];
    this.#draw();
  }

  #draw(): void {
    if (this.#block === undefined) return;
    const { columns = 80, rows = 24 } = this.#stream;
    // The last column stays free: some terminals break a line that fills it.
    const lines = this.#block()
      .slice(0, Math.max(1, Math.min(mostRows, rows - 1)))
      .map((line) => truncated(line, columns - 1));
    const isSame =
      lines.length === this.#drawn.length && lines.every((line, at) => line === this.#drawn[at]);
    if (isSame) return;
    this.#write(this.#erasing() + lines.map((line) => `${this.#paint(line)}\n`).join(''));
    this.#drawn = lines;
  }

  #erase(): void {
    const erasing = this.#erasing();
    if (erasing !== '') this.#write(erasing);
    this.#drawn = [];
  }

  /** The code that clears from our first line on. A terminal made narrower has broken long lines. */
  #erasing(): string {
    const { columns = 80 } = this.#stream;
    const rowsOf = (line: string) => Math.max(1, Math.ceil(widthOf(line) / columns));
    const rows = this.#drawn.reduce((sum, line) => sum + rowsOf(line), 0);
    return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
  }

  #write(text: string): void {
    this.#isWriting = true;
    try {
      this.#stream.write(text);
    } finally {
      this.#isWriting = false;
    }
  }

  #wrap(write: Write): Write {
    const block = this;
    return function written(this: NodeJS.WriteStream, ...parameters: unknown[]) {
      const isForeign = !block.#isWriting;
      if (isForeign) block.#erase();
      const result = Reflect.apply(write, this, parameters) as boolean;
      if (isForeign) block.#wrote(parameters[0]);
      return result;
    } as Write;
  }

  /** The block is drawn again with the next frame, once the program has ended its line. */
  #wrote(chunk: unknown): void {
    const text = typeof chunk === 'string' ? chunk.slice(-tail) : lastBytes(chunk);
    if (text === '') return;
    if (stripVTControlCharacters(text).endsWith('\n')) {
      this.#openLineSince = undefined;
      this.#printHeld();
    } else {
      this.#openLineSince ??= Date.now();
    }
  }
}

function lastBytes(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk.subarray(-tail)).toString('latin1') : '';
}
