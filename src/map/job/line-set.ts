/** Lines by their numbers, in a bit each: there may be millions. */
export class LineSet {
  #bits: Uint8Array;
  size = 0;

  /** @param lines - how many lines there are; none beyond them is taken. */
  constructor(lines: number) {
    this.#bits = new Uint8Array(Math.ceil(lines / 8));
  }

  add(line: number): void {
    const at = Math.floor(line / 8);
    const bits = this.#bits[at];
    if (bits === undefined || this.has(line)) return;
    this.#bits[at] = bits | (1 << (line % 8));
    this.size += 1;
  }

  has(line: number): boolean {
    return ((this.#bits[Math.floor(line / 8)] ?? 0) & (1 << (line % 8))) !== 0;
  }
}
