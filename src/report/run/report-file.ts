import { appendFileSync } from 'node:fs';
import type { RunMessage } from './run-message.ts';

/** Messages wait at most this long, in milliseconds. */
const pause = 250;
/** A process that has written this many bytes says no more: nobody may be there to read them. */
const mostBytes = 256 * 1024 * 1024;

/**
 * The file in which one process reports to the parent of its run. A file, because it is written at once:
 * what a process says right before `process.exit()` is not lost, nothing keeps the process alive, and
 * nothing waits for a reader.
 */
export class ReportFile {
  readonly #path: string;
  /** Numbers that are sent when something else is. */
  readonly #numbers: () => RunMessage | undefined;
  #lines = '';
  #isDue = false;
  #isNext = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #isGone = false;

  constructor(path: string, numbers: () => RunMessage | undefined) {
    this.#path = path;
    this.#numbers = numbers;
  }

  send(message: RunMessage): void {
    if (this.#isGone) return;
    this.#lines += `${JSON.stringify(message)}\n`;
    this.changed();
  }

  /** There are new numbers to send. */
  changed(): void {
    if (this.#isDue || this.#isGone) return;
    this.#isDue = true;
    // Never at once: this may be in the middle of a step that emits many events.
    const wait = Math.max(0, this.#lastAt + pause - performance.now());
    this.#timer = setTimeout(() => this.flush(), wait).unref();
    // Registered only while something waits: it would be lost otherwise.
    process.on('exit', this.#atExit);
  }

  /**
   * Writes before other code of the process goes on: a test runner kills its worker as soon as that code has its
   * answers.
   */
  flushNext(): void {
    if (this.#isNext) return;
    this.#isNext = true;
    void Promise.resolve().then(() => {
      this.#isNext = false;
      this.flush();
    });
  }

  flush(): void {
    if (!this.#isDue) return;
    clearTimeout(this.#timer);
    process.off('exit', this.#atExit);
    const numbers = this.#numbers();
    // Numbers first: the reader may see a part of this, and a batch without its calls would be shown wrong.
    const text = numbers === undefined ? this.#lines : `${JSON.stringify(numbers)}\n${this.#lines}`;
    this.#lines = '';
    this.#isDue = false;
    this.#lastAt = performance.now();
    this.#write(text);
  }

  readonly #atExit = (): void => this.flush();

  /** A parent that has gone has taken the folder with it. The program goes on without a display. */
  #write(text: string): void {
    this.#bytes += text.length;
    if (text === '') return;
    try {
      appendFileSync(this.#path, text, { mode: 0o600 });
      this.#isGone = this.#bytes > mostBytes;
    } catch {
      this.#isGone = true;
    }
  }
}
