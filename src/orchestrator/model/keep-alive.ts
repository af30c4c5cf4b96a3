/**
 * One handle that keeps the process up while a caller waits. A pending promise keeps nothing alive:
 * without it, Node would leave with exit code 13, or silently with 0.
 */
export class KeepAlive {
  #holders = 0;
  #handle: NodeJS.Timeout | undefined;

  hold(): void {
    this.#holders += 1;
    this.#handle ??= setInterval(() => undefined, 2 ** 30);
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    clearInterval(this.#handle);
    this.#handle = undefined;
  }
}
