export interface Clockwork {
  now(): number;
  /** Resolves after that many milliseconds; never, if the clockwork was stopped meanwhile. */
  sleep(milliseconds: number): Promise<void>;
  /** Gives the event loop a turn, so that a long piece of work does not block the server. */
  turn(): Promise<void>;
  /** Returns a function to await between steps: it gives a turn once the budget is used up. */
  slices(budget?: number): () => Promise<void> | undefined;
  /** Abandons everything that waits; later sleeps work as before. */
  stop(): void;
}

const longestTimer = 2 ** 31 - 1;

export function createClockwork(): Clockwork {
  const timers = new Set<NodeJS.Timeout>();
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
    now: () => Date.now(),
    turn,
    sleep(milliseconds) {
      return new Promise((resolve) => {
        const finish = () => {
          timers.delete(timer);
          resolve();
        };
        const timer = setTimeout(finish, Math.min(milliseconds, longestTimer));
        timer.unref();
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
    stop() {
      generation += 1;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
