import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { needOwnProcess } from './shared-process.ts';

/** So many turns with nothing under way, and whatever could still be computed has been. */
const calmTurns = 10;
/** Then it pauses between two looks: who spins takes the processor from what is waited for. */
const busyTurns = 50;
const longest = 60_000;

/**
 * Counts what this process has under way and will hear of without any clock: HTTP requests, files,
 * threads, the next turn of the event loop, waits for a lock. When there is nothing, only a clock can
 * make something happen, however slow the machine is. Modules that are still to be loaded are not
 * counted: load them beforehand.
 */
export class OutstandingWork {
  readonly #requests = new Set<unknown>();
  readonly #more: () => number;

  /** `more`: what else is under way, as only the test knows. */
  constructor(more: () => number = () => 0) {
    needOwnProcess('A test that waits until its process is at rest');
    this.#more = more;
    subscribe('undici:request:create', this.#begun);
    subscribe('undici:request:trailers', this.#ended);
    subscribe('undici:request:error', this.#ended);
    countOnce();
  }

  stop(): void {
    unsubscribe('undici:request:create', this.#begun);
    unsubscribe('undici:request:trailers', this.#ended);
    unsubscribe('undici:request:error', this.#ended);
  }

  /** Resolves when nothing is under way any more. */
  async done(): Promise<void> {
    const giveUpAt = performance.now() + longest;
    let busy = 0;
    for (let calm = 0; calm < calmTurns; calm += 1) {
      await (busy < busyTurns ? turn() : pause());
      if (!this.#isBusy()) continue;
      calm = 0;
      busy += 1;
      if (performance.now() > giveUpAt) throw new Error(`Nothing came to rest: ${this.#show()}`);
    }
  }

  #isBusy(): boolean {
    if (this.#requests.size + sleeps + messages.size + this.#more() > 0) return true;
    return process.getActiveResourcesInfo().some((kind) => works.test(kind));
  }

  #show(): string {
    const counts = { requests: this.#requests.size, sleeps, messages: messages.size };
    return `${JSON.stringify(counts)}, ${this.#more()} more, ${process.getActiveResourcesInfo()}`;
  }

  readonly #begun = (message: unknown): void => {
    this.#requests.add((message as { request: unknown }).request);
  };

  readonly #ended = (message: unknown): void => {
    this.#requests.delete((message as { request: unknown }).request);
  };
}

/** A file is read or written, a thread is waited for, or somebody comes in the next turn. */
const works = /^(FSReq|CloseReq|MessagePort|Immediate)/;

/** Node does not tell a wait of milliseconds from a timer that is set for a day. */
let sleeps = 0;
/** Threads that were told something and have not replied yet; of one that ends Node shows nothing. */
const messages = new Set<Worker>();
let isCounting = false;

function countOnce(): void {
  if (isCounting) return;
  isCounting = true;
  const sleep = timers.setTimeout;
  timers.setTimeout = async (...given) => {
    sleeps += 1;
    try {
      return (await sleep(...given)) as never;
    } finally {
      sleeps -= 1;
    }
  };
  syncBuiltinESMExports();
  process.on('worker', (worker) => {
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (message: unknown) => {
      messages.add(worker);
      post(message);
    };
    worker.on('message', () => messages.delete(worker));
    worker.on('exit', () => messages.delete(worker));
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
