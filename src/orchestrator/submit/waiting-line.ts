/** One that stands in a line. */
export interface Standing<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Who waits, in the order of coming. Neighbours are linked: anyone can leave from anywhere in it without
 * a look at the others, however many they are.
 */
export class Line<T extends Standing<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get first(): T | undefined {
    return this.#first;
  }

  join(one: T): void {
    one.previous = this.#last;
    if (this.#last) this.#last.next = one;
    else this.#first = one;
    this.#last = one;
  }

  has(one: T): boolean {
    return one.previous !== undefined || this.#first === one;
  }

  /** Who has left already can do so again. */
  leave(one: T): void {
    if (!this.has(one)) return;
    const { previous, next } = one;
    if (previous) previous.next = next;
    else this.#first = next;
    if (next) next.previous = previous;
    else this.#last = previous;
    one.previous = undefined;
    one.next = undefined;
  }
}
