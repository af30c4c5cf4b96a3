/**
 * One handle that keeps the process up while a caller waits. A pending promise keeps nothing alive:
 * without it, Node would leave with exit code 13, or silently with 0.
 */
export class KeepAlive {
  #holders = 0;
  #handle: NodeJS.Timeout | undefined;
  #mayEnd = false;

  hold(): void {
    this.#holders += 1;
    if (this.#handle !== undefined) return;
    this.#handle = setInterval(() => undefined, 2 ** 30);
    if (this.#mayEnd) this.#handle.unref();
  }

  release(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    clearInterval(this.#handle);
    this.#handle = undefined;
  }

  /** The process may end although there are holders. */
  letGo(): void {
    this.#mayEnd = true;
    this.#handle?.unref();
  }

  /** The process stays up for holders, present and later ones. */
  holdOn(): void {
    this.#mayEnd = false;
    this.#handle?.ref();
  }
}
