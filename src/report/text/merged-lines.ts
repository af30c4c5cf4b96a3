/** How many lines of a kind are printed one by one within a minute. */
const mostLines = 12;
const minute = 60_000;

/**
 * Lines of one kind. A program may send a hundred batches at once, or a server may open and close a
 * scope for each request: beyond a dozen lines within a minute, the rest becomes one line, printed when
 * the minute is over, when `flush` is called, or when the process exits.
 */
export class MergedLines<Fact> {
  readonly #print: (facts: readonly Fact[]) => void;
  readonly #isHeld: () => boolean;
  #facts: Fact[] = [];
  #printed = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    print: (facts: readonly Fact[]) => void,
    /** While this returns true, lines wait although there were few. */
    isHeld: () => boolean = () => false,
  ) {
    this.#print = print;
    this.#isHeld = isHeld;
  }

  add(fact: Fact): void {
    this.#facts.push(fact);
    const now = performance.now();
    if (now - this.#since >= minute) {
      this.#since = now;
      this.#printed = 0;
    }
    if (this.#printed < mostLines && !this.#isHeld()) this.flush();
    else this.#later(this.#since + minute - now);
  }

  flush(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      process.off('exit', this.#atExit);
    }
    if (this.#facts.length === 0) return;
    this.#printed += 1;
    this.#print(this.#facts.splice(0));
  }

  #later(delay: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.flush(), delay).unref();
    // Registered only while lines wait: they would be lost otherwise.
    process.on('exit', this.#atExit);
  }

  readonly #atExit = (): void => this.flush();
}
