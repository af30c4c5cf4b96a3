import { inTurns } from '../model/in-turns.ts';
import { AbortEars } from './abort-listeners.ts';
import { Line, type Standing } from './waiting-line.ts';

/** A function is asked anew each time: what it says may change. */
export type SlotLimit = number | (() => number);

interface Waiter extends Standing<Waiter> {
  readonly line: WaitingLine;
  readonly signals: readonly AbortSignal[];
  /** Its number among all who ever came. */
  readonly order: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Those of one group who share with as many others. */
class WaitingLine extends Line<Waiter> {
  readonly group: object | undefined;
  readonly limit: SlotLimit;

  constructor(group: object | undefined, limit: SlotLimit) {
    super();
    this.group = group;
    this.limit = limit;
  }
}

/**
 * Room for a number of holders; who comes too late waits in line. Groups take turns. There is a line
 * for each limit in each group, and only who stands first in one is looked at: what it takes to come,
 * to enter or to give up does not depend on how many wait.
 */
export class Slots {
  #taken = 0;
  #came = 0;
  readonly #lines = new Map<object | undefined, Map<SlotLimit, WaitingLine>>();
  readonly #ears = new AbortEars<Waiter>((waiters, reason) => void this.#sendAway(waiters, reason));
  /** When each group was let in last. Groups that are gone are forgotten with their key. */
  readonly #lastTurn = new WeakMap<object, number>();
  #turns = 0;

  /**
   * `limit` may differ per caller. Who may share with more others does not wait behind who may share
   * with fewer; among those who name the same number, or the same function, the first comes first. An
   * abort ends the waiting. `group`: one that has much to send does not keep the others out.
   */
  acquire(
    limit: SlotLimit,
    signal?: AbortSignal | readonly AbortSignal[],
    group?: object,
  ): Promise<void> {
    const signals = signal && 'aborted' in signal ? [signal] : (signal ?? []);
    return new Promise((resolve, reject) => {
      for (const one of signals) one.throwIfAborted();
      this.#came += 1;
      const order = this.#came;
      const links = { previous: undefined, next: undefined };
      const line = this.#line(group, limit);
      const waiter: Waiter = { line, signals, order, resolve, reject, ...links };
      line.join(waiter);
      this.#letIn();
      if (line.has(waiter)) for (const one of signals) this.#ears.listen(one, waiter);
    });
  }

  /** For one that is inside already, whether there is room or not. */
  occupy(): void {
    this.#taken += 1;
  }

  release(): void {
    this.#taken -= 1;
    this.#letIn();
  }

  #letIn(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { group } = next.line;
      this.#leave(next);
      this.#stopListening(next);
      this.#taken += 1;
      this.#turns += 1;
      if (group) this.#lastTurn.set(group, this.#turns);
      next.resolve();
    }
  }

  /** Of those who may enter, the one whose group has waited longest for a turn. */
  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let bestTurn = Number.POSITIVE_INFINITY;
    for (const [group, lines] of this.#lines) {
      const turn = (group && this.#lastTurn.get(group)) ?? 0;
      if (turn > bestTurn) continue;
      for (const [limit, { first }] of lines) {
        if (first === undefined || this.#taken >= asNumber(limit)) continue;
        // Who stands behind it is let in when all who were sent away have left.
        if (first.signals.some(({ aborted }) => aborted)) continue;
        if (best && turn === bestTurn && first.order > best.order) continue;
        best = first;
        bestTurn = turn;
      }
    }
    return best;
  }

  /** In turns: to take thousands out of their lines takes a while, too. */
  async #sendAway(waiters: ReadonlySet<Waiter>, reason: unknown): Promise<void> {
    await inTurns(waiters, (waiter) => {
      this.#leave(waiter);
      this.#stopListening(waiter);
      waiter.reject(reason);
    });
    this.#letIn();
  }

  #line(group: object | undefined, limit: SlotLimit): WaitingLine {
    const lines = this.#lines.get(group) ?? new Map<SlotLimit, WaitingLine>();
    this.#lines.set(group, lines);
    const line = lines.get(limit) ?? new WaitingLine(group, limit);
    lines.set(limit, line);
    return line;
  }

  #leave(waiter: Waiter): void {
    const { line } = waiter;
    line.leave(waiter);
    if (line.first) return;
    const lines = this.#lines.get(line.group);
    if (lines?.get(line.limit) === line) lines.delete(line.limit);
    if (lines?.size === 0) this.#lines.delete(line.group);
  }

  #stopListening(waiter: Waiter): void {
    for (const signal of waiter.signals) this.#ears.forget(signal, waiter);
  }
}

function asNumber(limit: SlotLimit): number {
  return typeof limit === 'number' ? limit : limit();
}
