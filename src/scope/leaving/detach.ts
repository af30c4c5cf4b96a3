import { nextTurn } from '../../concurrency/event-loop.ts';
import { type ProcessCalls, processCalls } from '../process-calls.ts';
import { exit } from './exit.ts';
import { leave } from './leave.ts';
import { allowOneMoreListener } from './one-more-listener.ts';
import { tellBusy } from './tell-left.ts';

/** The exit code of a process that leaves work under way behind. */
export const detachedCode = 75;
/** How often to look whether everything is submitted. */
const lookInterval = 50;
/** A program that has not ended this many milliseconds later is told why. */
const busyAfter = 1_000;

/**
 * - `idle`: no call waits.
 * - `holding`: something is not submitted yet, so calls that wait keep the process up.
 * - `free`: all calls were submitted at the last look. They keep nothing up any more.
 * - `asked`: the program had nothing left to do once, and its own listeners have heard of it.
 * - `leaving`: the process is about to exit.
 */
type DetachState = 'idle' | 'holding' | 'free' | 'asked' | 'leaving';

/**
 * `--detach`: ends the process when every call is submitted and the program has nothing else to do. Node
 * itself tells when that is: once our calls keep it up no longer, it emits `beforeExit`.
 */
export class Detach {
  readonly #calls: ProcessCalls = processCalls();
  #state: DetachState = 'idle';
  #timer: NodeJS.Timeout | undefined;
  #busyTimer: NodeJS.Timeout | undefined;
  #isListening = false;

  constructor() {
    this.#calls.onChange((isWaiting) => {
      if (this.#state === 'leaving') return;
      if (isWaiting) this.#hold();
      else this.#rest();
    });
  }

  /** Calls wait although the program has nothing left to do: it does not end in the usual way. */
  get isWaiting(): boolean {
    return this.#calls.areWaiting;
  }

  #hold(): void {
    this.#state = 'holding';
    this.#calls.keepAlive.holdOn();
    this.#timer ??= setInterval(() => this.#look(), lookInterval).unref();
    if (this.#isListening) return;
    this.#isListening = true;
    allowOneMoreListener();
    process.on('beforeExit', () => this.#nothingLeftToDo());
  }

  #look(): void {
    if (!this.#calls.areSubmitted) return;
    this.#stopLooking();
    this.#state = 'free';
    this.#calls.letProcessEnd();
    this.#busyTimer ??= setTimeout(() => this.#tellBusy(), busyAfter).unref();
  }

  #rest(): void {
    this.#stopLooking();
    this.#state = 'idle';
    this.#calls.keepAlive.holdOn();
  }

  /** Once: such a program is as busy at its next calls. */
  #tellBusy(): void {
    if (this.#state === 'free') void tellBusy();
    else this.#busyTimer = undefined;
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The first time it lets the event loop turn: listeners of the program may have begun something new. */
  #nothingLeftToDo(): void {
    if (this.#state === 'idle' || this.#state === 'leaving') return;
    // It leaves already, by a signal that the program handles itself.
    if (this.#calls.isLeaving) return;
    if (!this.#calls.areSubmitted) {
      this.#hold();
    } else if (this.#state === 'asked') {
      this.#state = 'leaving';
      void this.#leave();
    } else {
      this.#state = 'asked';
      setImmediate(() => undefined);
    }
  }

  async #leave(): Promise<void> {
    // A listener that was called after ours may have made a call.
    await nextTurn();
    if (!this.#calls.areWaiting) {
      this.#rest();
    } else if (!this.#calls.areSubmitted) {
      this.#hold();
    } else {
      await leave('detached');
      exit(detachedCode);
    }
  }
}
