import { type DisplayStream, truncated } from '../terminal/terminal.ts';

/** A terminal with fewer rows is left to the program. */
export const fewestRows = 8;
/** Rows that the program keeps in any case. */
const rowsOfProgram = 4;
const mostRows = 11;

const save = '\u001b7';
const restore = '\u001b8';
const wholeRegion = '\u001b[r';
const downKeepingColumn = '\u001bD';
const noStyle = '\u001b[0m';

/**
 * Rows at the bottom of a terminal that other processes write to as well. The rest of the terminal is
 * made its scroll region, so that what they write never gets here. Their cursor is saved and restored
 * within one write, which a terminal does not mix with the writes of others.
 */
export class BottomRows {
  readonly #stream: DisplayStream;
  readonly #paint: (line: string) => string;
  /** How many rows are taken now. The number grows; all are given back at once. */
  #taken = 0;
  /** The size of the terminal when they were taken. */
  #rows = 0;
  #columns = 0;

  constructor(stream: DisplayStream, paint: (line: string) => string) {
    this.#stream = stream;
    this.#paint = paint;
  }

  /** Draws the lines. Takes more rows, and takes them anew, where that is needed. */
  draw(lines: readonly string[]): void {
    const { rows = 24, columns = 80 } = this.#stream;
    if (lines.length === 0 && this.#taken === 0) return;
    if (rows < fewestRows) {
      this.free();
      return;
    }
    const most = Math.min(mostRows, rows - rowsOfProgram);
    const isResized = this.#taken > 0 && (rows !== this.#rows || columns !== this.#columns);
    const needed = Math.min(most, Math.max(this.#taken, lines.length));
    let text = '';
    if (isResized) text += wipeBelow();
    if (isResized || needed !== this.#taken) text += this.#take(needed, rows, isResized);
    this.#rows = rows;
    this.#columns = columns;
    this.#stream.write(text + this.#drawing(lines.slice(0, needed)));
  }

  /** Gives the rows back, empty. */
  free(): void {
    if (this.#taken === 0) return;
    const { rows = 24, columns = 80 } = this.#stream;
    const isResized = rows !== this.#rows || columns !== this.#columns;
    const text = isResized ? wipeBelow() : `${save}${wholeRegion}${this.#emptied()}${restore}`;
    this.#taken = 0;
    this.#stream.write(text);
  }

  /** After the shell has had the terminal, everything is drawn as for the first time. */
  forget(): void {
    this.#taken = 0;
  }

  /**
   * Takes rows at the bottom. The cursor may be there: it goes down as many rows, by which the terminal
   * scrolls if it has to, and up again, to what is now above them. Its column stays.
   */
  #take(count: number, rows: number, isResized: boolean): string {
    const give = this.#taken === 0 || isResized ? '' : this.#emptied();
    this.#taken = count;
    return (
      `${save}${wholeRegion}${give}${restore}` +
      `${downKeepingColumn.repeat(count)}\u001b[${count}A` +
      `${save}${this.#region(rows)}${restore}`
    );
  }

  #drawing(lines: readonly string[]): string {
    const rows = Array.from({ length: this.#taken }, (_, at) => {
      const line = truncated(lines[at] ?? '', this.#columns - 1);
      return `${this.#toRow(at)}${this.#paint(line)}`;
    });
    // The region is set each time: the program may have reset the terminal.
    return `${save}${this.#region(this.#rows)}${noStyle}${rows.join('')}${restore}`;
  }

  #emptied(): string {
    return noStyle + Array.from({ length: this.#taken }, (_, at) => this.#toRow(at)).join('');
  }

  /** Moves to the beginning of the row and clears it. */
  #toRow(at: number): string {
    return `\u001b[${this.#rows - this.#taken + 1 + at};1H\u001b[2K`;
  }

  #region(rows: number): string {
    return `\u001b[1;${rows - this.#taken}r`;
  }
}

/**
 * A terminal of another size has moved our rows, but they are still below the cursor of the program: so
 * everything from the cursor on is cleared.
 */
function wipeBelow(): string {
  return `${save}${wholeRegion}${restore}${noStyle}\u001b[J`;
}
