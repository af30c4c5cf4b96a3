import { openStage, type Stage } from '../support/stage.ts';

/** A stage on which it can be seen whether the provider still has something to do. */
export interface TheatreStage extends Stage {
  /** Timers of the simulator that have not struck yet. */
  readonly providerTimers: ReadonlySet<unknown>;
}

export async function openTheatreStage(): Promise<TheatreStage> {
  const providerTimers = new Set<NodeJS.Timeout>();
  const stage = await openStage({
    clock: {
      now: () => Date.now(),
      setTimeout(callback, milliseconds) {
        const timer = setTimeout(() => {
          providerTimers.delete(timer);
          callback();
        }, milliseconds).unref();
        providerTimers.add(timer);
        return timer;
      },
      clearTimeout(timer) {
        providerTimers.delete(timer as NodeJS.Timeout);
        clearTimeout(timer as NodeJS.Timeout);
      },
    },
  });
  return { ...stage, providerTimers };
}
