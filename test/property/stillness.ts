import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { SteppingClock } from './stepping-clock.ts';
import type { TheatreStage } from './theatre-stage.ts';

/** So many rounds of the event loop without any sign of life count as still. */
const stillRounds = 3;
const longest = 60_000;

/**
 * Knows when everything real has come to rest: HTTP in both directions, the simulator's batches, the
 * ledger. Only then is the clock moved, so that a program of steps runs the same way each time.
 */
export class Stillness {
  readonly #stage: TheatreStage;
  readonly #clock: SteppingClock;
  readonly #underWay = new Set<unknown>();
  #exchanges = 0;

  constructor(stage: TheatreStage, clock: SteppingClock) {
    this.#stage = stage;
    this.#clock = clock;
    subscribe('undici:request:create', this.#begun);
    subscribe('undici:request:trailers', this.#ended);
    subscribe('undici:request:error', this.#ended);
  }

  stop(): void {
    unsubscribe('undici:request:create', this.#begun);
    unsubscribe('undici:request:trailers', this.#ended);
    unsubscribe('undici:request:error', this.#ended);
  }

  async settle(): Promise<void> {
    const until = performance.now() + longest;
    let seen = this.#signs();
    for (let still = 0; still < stillRounds; ) {
      await turn();
      await sleep(1);
      const signs = this.#signs();
      still = signs === seen && this.#nothingUnderWay() ? still + 1 : 0;
      seen = signs;
      if (performance.now() > until) throw new Error(`Nothing came to rest: ${signs}`);
    }
  }

  #nothingUnderWay(): boolean {
    return this.#underWay.size === 0 && this.#stage.providerTimers.size === 0;
  }

  #signs(): string {
    const phases = this.#stage.simulator.batches().map(({ phase }) => phase);
    return `${this.#clock.activity} ${this.#exchanges} ${this.#underWay.size} ${phases.join()}`;
  }

  readonly #begun = (message: unknown): void => {
    this.#exchanges += 1;
    this.#underWay.add((message as { request: unknown }).request);
  };

  readonly #ended = (message: unknown): void => {
    this.#underWay.delete((message as { request: unknown }).request);
  };
}
