export interface Gate {
  readonly held: boolean;
  hold(): void;
  release(): void;
  /** Resolves at once while the gate is open, else when it is released. */
  pass(): Promise<void>;
  /** Opens the gate; batches that waited at it never go on. */
  reset(): void;
}

export function createGate(): Gate {
  let held = false;
  let waiting: Array<() => void> = [];
  return {
    get held() {
      return held;
    },
    hold() {
      held = true;
    },
    release() {
      held = false;
      const released = waiting;
      waiting = [];
      for (const resume of released) resume();
    },
    pass() {
      if (!held) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    reset() {
      held = false;
      waiting = [];
    },
  };
}
