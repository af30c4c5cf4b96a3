import type { Clock } from '../../base/types.ts';
import type { SignalUser } from '../border.ts';

const second = 1_000;
/** A client that has not begun to read its answer by then no longer looks at its signal. */
const unreadPatience = second;
/** For a stream that is read slowly, or never closed. */
const streamPatience = 600 * second;
/** Code that pipes a stream on goes on after its end, and looks at the signal at each chunk. */
const drainPatience = 10 * second;

/** Captured calls that are answered, while their clients may still be reading the answers. */
export class UnreadAnswers {
  readonly #users = new Set<SignalUser>();
  #openStreams = 0;
  #hasDrained = false;
  #stopTimer: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#users.size === 0;
  }

  add(user: SignalUser): void {
    this.#users.add(user);
  }

  remove(user: SignalUser): void {
    this.#users.delete(user);
  }

  /** A client has begun to read its answer as a stream, or has reached the end of it. */
  streams(isOpen: boolean): void {
    this.#openStreams += isOpen ? 1 : -1;
    this.#hasDrained ||= !isOpen;
  }

  /** Calls back when no client can still be reading, counted from now. */
  wait(clock: Clock, done: () => void): void {
    this.#stopTimer?.();
    const atRest = this.#hasDrained ? drainPatience : unreadPatience;
    const timer = clock.setTimeout(done, this.#openStreams > 0 ? streamPatience : atRest);
    this.#stopTimer = () => clock.clearTimeout(timer);
  }

  get isWaitedFor(): boolean {
    return this.#stopTimer !== undefined;
  }

  stop(): void {
    this.#stopTimer?.();
  }
}
