/** So many lines of a kind are told one by one within a minute. */
const mostLines = 12;
const minute = 60_000;

/**
 * Lines of one kind. A program may send a hundred batches at once, or close a scope for each request of
 * a server: beyond a dozen within a minute they are told together, when the minute is over, when
 * somebody asks for it, or at the end of the process.
 */
export class MergedLines<Fact> {
  readonly #print: (facts: readonly Fact[]) => void;
  readonly #isIdle: () => boolean;
  #facts: Fact[] = [];
  #printed = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    print: (facts: readonly Fact[]) => void,
    /** Not now, although there were few: something larger is going on that they are a part of. */
    isHeld: () => boolean = () => false,
  ) {
    this.#print = print;
    this.#isIdle = () => !isHeld();
  }

  add(fact: Fact): void {
    this.#facts.push(fact);
    const now = performance.now();
    if (now - this.#since >= minute) {
      this.#since = now;
      this.#printed = 0;
    }
    if (this.#printed < mostLines && this.#isIdle()) this.flush();
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
    // Only while something is held back: nothing else would tell it.
    process.on('exit', this.#atExit);
  }

  readonly #atExit = (): void => this.flush();
}
