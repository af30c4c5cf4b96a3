import { getHeapStatistics } from 'node:v8';

/** The part of a body in the room for all of them. */
export class BodyShare {
  readonly #room: BodyRoom;
  #mine: number;

  constructor(room: BodyRoom, size: number) {
    this.#room = room;
    this.#mine = size;
  }

  /** Takes more, for a body that does not say how long it is; false: there is no room. */
  grow(bytes: number): boolean {
    if (!this.#room.grow(this.#mine, bytes)) return false;
    this.#mine += bytes;
    return true;
  }

  /** May be called again. */
  leave(): void {
    const mine = this.#mine;
    this.#mine = 0;
    this.#room.leave(mine);
  }
}

/**
 * Room in memory for the bodies of all clients, in bytes, from before they are read until the engine keeps them
 * within limits of its own. A body that is larger than the room has it alone.
 */
export class BodyRoom {
  readonly #most: number;
  /** Bodies up to this size do not wait: clients that announce a large body and send nothing must not hold them up. */
  readonly #small: number;
  #used = 0;
  /** Bodies that wait, in the order of asking: large ones get their turn, too. */
  readonly #line: { readonly size: number; enter(): void }[] = [];

  /** A body is copied and parsed on its way in, so that it takes several times its size. */
  constructor(most = getHeapStatistics().heap_size_limit / 4) {
    this.#most = most;
    this.#small = Math.min(64 * 1024, most / 100);
  }

  async enter(size: number): Promise<BodyShare> {
    const mayWait = size > this.#small;
    if (mayWait && (this.#line.length > 0 || !this.#fits(size))) {
      await new Promise<void>((enter) => this.#line.push({ size, enter }));
    } else this.#used += size;
    return new BodyShare(this, size);
  }

  /** `mine`: what a body has already. False: there is no room for more. */
  grow(mine: number, bytes: number): boolean {
    if (this.#used > mine && !this.#fits(bytes)) return false;
    this.#used += bytes;
    return true;
  }

  leave(bytes: number): void {
    this.#used -= bytes;
    this.#callNext();
  }

  #fits(size: number): boolean {
    return this.#used === 0 || this.#used + size <= this.#most;
  }

  #callNext(): void {
    for (let next = this.#line[0]; next && this.#fits(next.size); next = this.#line[0]) {
      this.#line.shift();
      this.#used += next.size;
      next.enter();
    }
  }
}
