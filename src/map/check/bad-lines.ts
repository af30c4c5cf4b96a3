import type { InputLine } from '../input/input-part.ts';

/** So many are told; more would hide the first. */
export const mostTold = 20;

/** Lines that cannot be sent, as far as a person wants to read them. */
export class BadLines {
  count = 0;
  readonly #told: string[] = [];

  add({ part, place }: Pick<InputLine, 'part' | 'place'>, why: string): void {
    this.count += 1;
    if (this.#told.length < mostTold)
      this.#told.push(`${part.shown}, ${part.unit} ${place}: ${why}`);
  }

  addDoubled(line: InputLine, first: InputLine): void {
    const where = first.part === line.part ? '' : `${first.part.shown}, `;
    this.add(line, `it has the id of ${where}line ${first.place}`);
  }

  /** Wrong lines that would not be told anyway. */
  addUntold(count: number): void {
    this.count += count;
  }

  lines(): string[] {
    const more = this.count - this.#told.length;
    return more > 0 ? [...this.#told, `… and ${more} more`] : [...this.#told];
  }
}
