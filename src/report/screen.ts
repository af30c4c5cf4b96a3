import { stripVTControlCharacters } from 'node:util';
import { patch } from '../hooks/patch-registry.ts';
import { type DisplayStream, truncated, widthOf } from './terminal.ts';

/** How often the block is looked at; it is drawn when it differs. */
const frame = 250;
/** How long lasting lines wait for the program to end its own line, before they begin a new one. */
const lineEndPatience = 5_000;
const mostRows = 8;
/** Enough characters to see how a line ends, behind codes that set colours back. */
const tail = 40;

type Write = NodeJS.WriteStream['write'];

/**
 * A few lines at the end of a terminal that are drawn over and over. The cursor stands below them, and is
 * not hidden: a program that is killed leaves the terminal as it should be. What anybody else writes
 * goes above them, and what it leaves of a line is not touched.
 */
export class Screen {
  readonly #stream: DisplayStream;
  readonly #paint: (line: string) => string;
  readonly #others: readonly NodeJS.WriteStream[];
  #block: (() => readonly string[]) | undefined;
  /** What is on the screen now. */
  #drawn: readonly string[] = [];
  #undo: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** We are the ones who write. */
  #writing = false;
  /** The program has begun a line, at this moment, and not ended it. */
  #openLineSince: number | undefined;
  #held: string[] = [];

  constructor(
    stream: DisplayStream,
    /** Puts colours on a line; they take no columns. */
    paint: (line: string) => string,
    others: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr],
  ) {
    this.#stream = stream;
    this.#paint = paint;
    this.#others = others;
  }

  /** Draws what the function returns, until `close`. */
  open(block: () => readonly string[]): void {
    if (this.#block) return;
    this.#block = block;
    for (const stream of this.#others) {
      if (stream.isTTY) this.#undo.push(patch(stream, 'write', (write) => this.#wrap(write)));
    }
    this.#timer = setInterval(() => this.#tick(), frame).unref();
  }

  /** Lines that stay, above the others. */
  print(lines: readonly string[]): void {
    this.#held.push(...lines);
    if (this.#openLineSince === undefined) this.#printHeld();
  }

  /** Leaves nothing behind but the lines that stay. */
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
    // The last column stays free: some terminals break the line when it is filled.
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

  /** Up to the first of our lines, and clear from there. A narrower terminal has broken the long ones. */
  #erasing(): string {
    const { columns = 80 } = this.#stream;
    const rowsOf = (line: string) => Math.max(1, Math.ceil(widthOf(line) / columns));
    const rows = this.#drawn.reduce((sum, line) => sum + rowsOf(line), 0);
    return rows === 0 ? '' : `\u001b[${rows}A\r\u001b[J`;
  }

  #write(text: string): void {
    this.#writing = true;
    try {
      this.#stream.write(text);
    } finally {
      this.#writing = false;
    }
  }

  #wrap(write: Write): Write {
    const screen = this;
    return function written(this: NodeJS.WriteStream, ...parameters: unknown[]) {
      const isForeign = !screen.#writing;
      if (isForeign) screen.#erase();
      const result = Reflect.apply(write, this, parameters) as boolean;
      if (isForeign) screen.#wrote(parameters[0]);
      return result;
    } as Write;
  }

  /** The block comes back with the next frame, once the program has ended its line. */
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
