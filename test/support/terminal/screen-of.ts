/** A terminal as far as our output needs one: what it shows, line by line, scrolled lines included. */
export class TerminalScreen {
  readonly #columns: number;
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** The lines without the empty ones at the end. */
  get lines(): string[] {
    const lines = this.#lines.map((cells) => Array.from(cells, (cell) => cell ?? ' ').join(''));
    while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop();
    return lines.map((line) => line.trimEnd());
  }

  write(text: string): this {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    for (const [part] of text.matchAll(/\u001b\[([\d;?]*)([A-Za-z])|./gsu)) {
      if (part.startsWith('\u001b[')) this.#command(part.at(-1) as string, part.slice(2, -1));
      else this.#put(part);
    }
    return this;
  }

  #command(letter: string, parameter: string): void {
    if (letter === 'A') this.#row = Math.max(0, this.#row - Number(parameter || 1));
    else if (letter === 'J') {
      this.#lines.length = this.#row + 1;
      this.#current.length = Math.min(this.#current.length, this.#column);
    } else if (letter === 'K') this.#current.length = Math.min(this.#current.length, this.#column);
    else if (letter !== 'm') throw new Error(`Unknown command of a terminal: ${letter}`);
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down();
    else {
      if (this.#column === this.#columns) {
        this.#down();
        this.#column = 0;
      }
      this.#current[this.#column] = character;
      this.#column += 1;
    }
  }

  #down(): void {
    this.#row += 1;
    while (this.#lines.length <= this.#row) this.#lines.push([]);
  }

  get #current(): string[] {
    return this.#lines[this.#row] as string[];
  }
}
