/**
 * The time a simulator lives in. A test that owns the time of its program gives the same to both.
 *
 * @example
 * ```ts
 * const simulator = await startSimulator({ clock, speed: { running: 3_600_000 } });
 * ```
 */
export interface SimulatorClock {
  now(): number;
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
}

export interface Clockwork {
  now(): number;
  /** Resolves after that many milliseconds; never, if the clockwork was stopped meanwhile. */
  sleep(milliseconds: number): Promise<void>;
  /** Gives the event loop a turn, so that a long piece of work does not block the server. */
  turn(): Promise<void>;
  /** Returns a function to await between steps: it gives a turn once the budget is used up. */
  slices(budget?: number): () => Promise<void> | undefined;
  /** The same promise, except that it never settles if the clockwork was stopped meanwhile. */
  unlessStopped<Value>(work: Promise<Value>): Promise<Value>;
  /** Abandons everything that waits; later sleeps work as before. */
  stop(): void;
}

const longestTimer = 2 ** 31 - 1;

const realTime: SimulatorClock = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds).unref(),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export function createClockwork(clock = realTime): Clockwork {
  const timers = new Set<unknown>();
  let generation = 0;

  const turn = () => {
    const mine = generation;
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        if (mine === generation) resolve();
      });
    });
  };

  return {
    now: () => clock.now(),
    turn,
    sleep(milliseconds) {
      return new Promise((resolve) => {
        const finish = () => {
          timers.delete(timer);
          resolve();
        };
        const timer = clock.setTimeout(finish, Math.min(milliseconds, longestTimer));
        timers.add(timer);
      });
    },
    slices(budget = 8) {
      let began = performance.now();
      return () => {
        if (performance.now() - began < budget) return undefined;
        return turn().then(() => {
          began = performance.now();
        });
      };
    },
    unlessStopped(work) {
      const mine = generation;
      return new Promise((resolve, reject) => {
        work.then(
          (value) => mine === generation && resolve(value),
          (error) => mine === generation && reject(error),
        );
      });
    },
    stop() {
      generation += 1;
      for (const timer of timers) clock.clearTimeout(timer);
      timers.clear();
    },
  };
}
