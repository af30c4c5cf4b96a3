import type { LineOutput } from '../terminal/line-output.ts';
import { blockLines, labelled, painter } from '../terminal/line-output.ts';
import { type DisplayStream, wrapped } from '../terminal/terminal.ts';
import { BottomRows } from './bottom-rows.ts';

/** How often the rows are compared with what is drawn, in milliseconds. */
const frame = 250;
/** The rows are drawn again after this many frames: the program may have cleared the screen. */
const framesToRepeat = 4;

const signalsThatEnd = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Lines and rows in a terminal that the processes of a run share. What they write cannot be seen, and they
 * need not be Node: see `BottomRows` for how the rows stay apart.
 */
export class SharedTerminal implements LineOutput {
  readonly #stream: DisplayStream & Partial<Pick<NodeJS.EventEmitter, 'on' | 'off'>>;
  readonly #paint: (line: string) => string;
  readonly #rows: BottomRows;
  #lines: ((columns: number) => readonly string[]) | undefined;
  #drawn = '';
  #frames = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: DisplayStream & Partial<Pick<NodeJS.EventEmitter, 'on' | 'off'>>) {
    this.#stream = stream;
    this.#paint = painter(stream);
    this.#rows = new BottomRows(stream, this.#paint);
  }

  print(...lines: string[]): void {
    const columns = this.#stream.columns ?? 80;
    const text = lines
      .flatMap((line) => wrapped(labelled(line), columns))
      .map((line) => `${this.#paint(line)}\n`);
    this.#stream.write(`${freshLine(columns)}${text.join('')}`);
  }

  draw(lines: (columns: number) => readonly string[]): void {
    if (this.#lines !== undefined) return;
    this.#lines = lines;
    this.#timer = setInterval(this.#tick, frame).unref();
    this.#stream.on?.('resize', this.#again);
    process.on('exit', this.#free);
    process.on('SIGCONT', this.#continued);
    process.on('SIGTSTP', this.#stopped);
    for (const signal of signalsThatEnd) process.on(signal, this.#ended);
  }

  clear(): void {
    if (this.#lines === undefined) return;
    this.#lines = undefined;
    clearInterval(this.#timer);
    this.#stream.off?.('resize', this.#again);
    process.off('exit', this.#free);
    process.off('SIGCONT', this.#continued);
    process.off('SIGTSTP', this.#stopped);
    for (const signal of signalsThatEnd) process.off(signal, this.#ended);
    this.#free();
  }

  readonly #tick = (): void => {
    const lines = this.#block();
    if (lines === undefined) return;
    const text = lines.join('\n');
    this.#frames += 1;
    if (text === this.#drawn && this.#frames < framesToRepeat) return;
    this.#drawn = text;
    this.#frames = 0;
    this.#rows.draw(lines);
  };

  /** `undefined`: there is nothing to draw, or a process of another version has told what cannot be drawn. */
  #block(): readonly string[] | undefined {
    try {
      return this.#lines && blockLines(this.#lines, this.#stream.columns ?? 80);
    } catch {
      return undefined;
    }
  }

  readonly #again = (): void => {
    this.#drawn = '';
    this.#tick();
  };

  readonly #free = (): void => this.#rows.free();

  /** Ctrl-Z: the shell gets a tidy terminal. */
  readonly #stopped = (): void => {
    this.#free();
    process.kill(process.pid, 'SIGSTOP');
  };

  readonly #continued = (): void => {
    this.#rows.forget();
    this.#again();
  };

  /** The signal ends this process as it would without us, unless somebody else listens for it. */
  readonly #ended = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 1) return;
    this.clear();
    process.kill(process.pid, signal);
  };
}

/**
 * Goes to the beginning of an empty line. Whether the program has ended its line is not known: as many
 * spaces as there are columns end up on the next line if it has not, and on the same one if it has.
 */
function freshLine(columns: number): string {
  return `${' '.repeat(columns)}\r\u001b[K`;
}
