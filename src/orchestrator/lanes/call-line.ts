import type { OrdinaryLane } from '../model/call.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Room } from './room.ts';

/** The requests of one queue that wait for their turn as ordinary calls of one lane. */
export class CallLine {
  readonly queue: RequestQueue;
  readonly lane: OrdinaryLane;
  readonly room: Room;
  /** How many workers take requests out of it. */
  workers = 0;
  readonly #waiting = new Set<Request>();
  /** Requests that had their turn in vain come first. */
  readonly #again = new Set<Request>();

  constructor(queue: RequestQueue, lane: OrdinaryLane, room: Room) {
    this.queue = queue;
    this.lane = lane;
    this.room = room;
  }

  get size(): number {
    return this.#again.size + this.#waiting.size;
  }

  get next(): Request | undefined {
    const [first] = this.#again.size > 0 ? this.#again : this.#waiting;
    return first;
  }

  /** Calls of its account that may be under way at once, by the scope of the next one. */
  get atOnce(): number {
    return this.next?.scope.realtimeConcurrency ?? 1;
  }

  add(request: Request): void {
    this.#waiting.add(request);
  }

  putBack(request: Request): void {
    this.#again.add(request);
  }

  take(): Request | undefined {
    const { next } = this;
    if (next) this.remove(next);
    return next;
  }

  /** After its deadline a request does not wait for room in the flex tier. */
  isToHurry({ isLate }: Request): boolean {
    return isLate && this.lane === 'flex' && !this.room.isOpen;
  }

  takeHurried(): readonly Request[] {
    const hurried = [...this.#again, ...this.#waiting].filter((one) => this.isToHurry(one));
    for (const request of hurried) this.remove(request);
    return hurried;
  }

  has(request: Request): boolean {
    return this.#again.has(request) || this.#waiting.has(request);
  }

  remove(request: Request): void {
    this.#again.delete(request);
    this.#waiting.delete(request);
  }

  clear(): void {
    this.#again.clear();
    this.#waiting.clear();
  }
}
