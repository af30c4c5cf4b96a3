import type { Clock } from '../../types.ts';
import type { SignalUser } from '../state.ts';

const second = 1_000;
/** A client that has not begun to read its answer by then does not look at its signal any more. */
const unreadPatience = second;
/** A stream may be read slowly, or left open for ever. */
const streamPatience = 600 * second;
/** What comes behind a stream hands it on after its end, and looks at the signal at each piece. */
const drainPatience = 10 * second;

/** Captured calls that have their answers, while their clients may still be reading them. */
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

  /** A client has begun to read a stream, or has come to its end. */
  streams(isOpen: boolean): void {
    this.#openStreams += isOpen ? 1 : -1;
    this.#hasDrained ||= !isOpen;
  }

  /** Calls back when nobody can be reading any more, counted from now. */
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
