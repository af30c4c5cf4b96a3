import { inTurns } from './event-loop.ts';

interface Waiter {
  readonly line: Line;
  readonly signals: readonly AbortSignal[];
  /** Waiters of all lines are numbered in the order of asking. */
  readonly order: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Waiters of one group with the same limit, in the order of asking. */
interface Line {
  readonly group: object | undefined;
  readonly limit: number;
  readonly waiters: Set<Waiter>;
}

interface SignalWaiters {
  readonly waiters: Set<Waiter>;
  readonly listener: () => void;
}

/**
 * A counting semaphore whose limit is named by each waiter. Groups take turns. Only the first waiter of
 * each line is looked at, so that the cost does not depend on how many wait.
 */
export class Semaphore {
  #held = 0;
  #asked = 0;
  readonly #lines = new Map<object | undefined, Map<number, Line>>();
  /** One listener per signal: with one per waiter, Node compares each new one with all before it. */
  readonly #signals = new Map<AbortSignal, SignalWaiters>();
  /** When each group entered last. */
  readonly #lastTurn = new WeakMap<object, number>();
  #turns = 0;

  /**
   * Resolves when fewer than `limit` are held. A waiter with a larger limit does not wait behind one
   * with a smaller limit. An abort of `signal` rejects with its reason. `group`: a group that asks often
   * does not keep the others out.
   */
  acquire(
    limit: number,
    signal?: AbortSignal | readonly AbortSignal[],
    group?: object,
  ): Promise<void> {
    const signals = signal && 'aborted' in signal ? [signal] : (signal ?? []);
    return new Promise((resolve, reject) => {
      for (const one of signals) one.throwIfAborted();
      this.#asked += 1;
      const line = this.#line(group, limit);
      const waiter: Waiter = { line, signals, order: this.#asked, resolve, reject };
      line.waiters.add(waiter);
      this.#letIn();
      if (line.waiters.has(waiter)) for (const one of signals) this.#listen(one, waiter);
    });
  }

  /** Holds one more, whatever the limit: what it stands for is under way already. */
  occupy(): void {
    this.#held += 1;
  }

  release(): void {
    this.#held -= 1;
    this.#letIn();
  }

  #letIn(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { group } = next.line;
      this.#leave(next);
      this.#held += 1;
      this.#turns += 1;
      if (group) this.#lastTurn.set(group, this.#turns);
      next.resolve();
    }
  }

  /** The waiter that may enter and whose group has waited longest for a turn. */
  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let bestTurn = Number.POSITIVE_INFINITY;
    for (const [group, lines] of this.#lines) {
      const turn = (group && this.#lastTurn.get(group)) ?? 0;
      if (turn > bestTurn) continue;
      for (const { limit, waiters } of lines.values()) {
        const [first] = waiters;
        if (first === undefined || this.#held >= limit) continue;
        // The waiters behind it enter when all aborted ones have left.
        if (first.signals.some(({ aborted }) => aborted)) continue;
        if (best && turn === bestTurn && first.order > best.order) continue;
        best = first;
        bestTurn = turn;
      }
    }
    return best;
  }

  #line(group: object | undefined, limit: number): Line {
    const lines = this.#lines.get(group) ?? new Map<number, Line>();
    this.#lines.set(group, lines);
    const line = lines.get(limit) ?? { group, limit, waiters: new Set() };
    lines.set(limit, line);
    return line;
  }

  /** Leaving twice is a no-op. */
  #leave(waiter: Waiter): void {
    const { line, signals } = waiter;
    const { group, limit, waiters } = line;
    waiters.delete(waiter);
    if (waiters.size === 0) {
      const lines = this.#lines.get(group);
      if (lines?.get(limit) === line) lines.delete(limit);
      if (lines?.size === 0) this.#lines.delete(group);
    }
    for (const signal of signals) this.#stopListening(signal, waiter);
  }

  #listen(signal: AbortSignal, waiter: Waiter): void {
    const known = this.#signals.get(signal);
    if (known) {
      known.waiters.add(waiter);
      return;
    }
    const waiters = new Set([waiter]);
    const listener = () => {
      this.#signals.delete(signal);
      void this.#reject(waiters, signal.reason);
    };
    this.#signals.set(signal, { waiters, listener });
    signal.addEventListener('abort', listener, { once: true });
  }

  #stopListening(signal: AbortSignal, waiter: Waiter): void {
    const known = this.#signals.get(signal);
    if (known === undefined || !known.waiters.delete(waiter) || known.waiters.size > 0) return;
    this.#signals.delete(signal);
    signal.removeEventListener('abort', known.listener);
  }

  /** The loop turns in between: thousands may wait on one signal. */
  async #reject(waiters: ReadonlySet<Waiter>, reason: unknown): Promise<void> {
    await inTurns(waiters, (waiter) => {
      this.#leave(waiter);
      waiter.reject(reason);
    });
    this.#letIn();
  }
}
