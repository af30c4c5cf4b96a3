import type { Clock } from '../../base/types.ts';
import { backoff, sleep } from '../../concurrency/backoff.ts';
import { unreachablePatience } from '../../concurrency/patience.ts';

/** A provider that stays full is asked every so often: its tier may have room any minute. */
const longestPause = 2 * 60_000;

/** How often it is looked whether another process has found no room. */
const lookInterval = 1_000;

/** What processes of one ledger tell each other about the room of a model. */
export interface RoomMemory {
  /** Milliseconds for which there is no room, as another process has found out. */
  pause(): Promise<number>;
  closed(pause: number): void;
}

/**
 * Whether an account may send ordinary calls with a model now. A refusal for lack of room closes it for all of them
 * for a while, longer each time, until one is accepted.
 */
export class Room {
  readonly #clock: Clock;
  readonly #memory: RoomMemory;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> = Promise.resolve();
  #openAt = 0;
  #closedAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #failingSince: number | undefined;

  constructor(clock: Clock, memory: RoomMemory) {
    this.#clock = clock;
    this.#memory = memory;
  }

  /** Looks, every so often, whether another process has found no room. All calls wait for the look that is under way. */
  look(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#lookedAt >= lookInterval) {
      this.#lookedAt = now;
      this.#looking = this.#readPause(now);
    }
    return this.#looking;
  }

  async #readPause(now: number): Promise<void> {
    this.#openAt = Math.max(this.#openAt, now + (await this.#memory.pause()));
  }

  get isOpen(): boolean {
    return this.#clock.now() >= this.#openAt;
  }

  /** Nobody was reached there last. */
  get isUnreachable(): boolean {
    return this.#failingSince !== undefined;
  }

  /** Nobody could be reached there for so long that the callers are to be told. */
  get isHopeless(): boolean {
    const now = this.#clock.now();
    return this.#failingSince !== undefined && now - this.#failingSince >= unreachablePatience;
  }

  /** Milliseconds until it opens. */
  get pause(): number {
    return Math.max(0, this.#openAt - this.#clock.now());
  }

  opened(closed: AbortSignal): Promise<void> {
    return sleep(this.#clock, this.pause, closed);
  }

  /** `sentAt`: calls that were sent together are refused together, which counts once. */
  close(sentAt: number, retryAfter?: number): void {
    const pause = this.#shut(sentAt, retryAfter);
    if (pause > 0) this.#memory.closed(pause);
  }

  /** The new pause; 0 where the present one is as long. */
  #shut(sentAt: number, retryAfter?: number): number {
    const now = this.#clock.now();
    if (sentAt > this.#closedAt) {
      this.#refusals += 1;
      this.#closedAt = now;
    }
    const pause = backoff({ attempt: this.#refusals, cap: longestPause, retryAfter });
    if (now + pause <= this.#openAt) return 0;
    this.#openAt = now + pause;
    return pause;
  }

  /**
   * Without a pause once it is hopeless: thousands of callers may be to be told, and a pause is for some of them. Other
   * processes, the next run among them, find out by themselves whether the server is there by now.
   */
  unreachable(sentAt: number): void {
    this.#failingSince ??= this.#clock.now();
    if (!this.isHopeless) this.#shut(sentAt);
  }

  /** The provider has answered. */
  reached(): void {
    this.#failingSince = undefined;
  }

  /** The provider has taken a call. */
  accepted(): void {
    this.#refusals = 0;
  }
}
