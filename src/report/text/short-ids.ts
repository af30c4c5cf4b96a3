/** As many characters of a batch's id as tell it from others, in a ledger of any usual size. */
const shortest = 'bl_'.length + 6;
const aToken = /\bbl_[0-9a-f]{16}\b/g;

/** Shortens the ids of batches in what people read. `batchling show` takes the beginning of an id. */
export class ShortIds {
  readonly #seen = new Set<string>();

  in(line: string): string {
    return line.replace(aToken, (token) => this.#short(token));
  }

  #short(token: string): string {
    this.#seen.add(token);
    let length = shortest;
    while (
      [...this.#seen].some((other) => other !== token && other.startsWith(token.slice(0, length)))
    )
      length += 1;
    return token.slice(0, length);
  }
}
