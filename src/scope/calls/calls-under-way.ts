import type { ResolvedOptions } from '../../options/index.ts';
import type { LeftCalls } from '../../report/text/end-note.ts';
import type { EngineEntry } from '../engine/engine-entry.ts';
import { processCalls, type WaitingCalls, type WaitingScope } from '../process-calls.ts';
import type { ClientCall } from './client-call.ts';

const inProcess = processCalls();
const { keepAlive } = inProcess;

/** The calls of a scope that have not ended. While there are any, they keep the process up. */
export class CallsUnderWay implements WaitingScope {
  readonly store: string;
  readonly #engine: Pick<EngineEntry, 'current'>;
  readonly leave: () => void;
  readonly #calls = new Set<ClientCall>();
  readonly #whenIdle: (() => void)[] = [];
  /**
   * Calls that are not in `#calls` but for which the scope does not end: their body is being read, they wait for an
   * abort to be delivered, their client has sent them itself, or their cost is not known yet.
   */
  #elsewhere = 0;
  #keepsUp = true;
  /** false for the calls of a dry run: a process that leaves early need not care about them. */
  readonly #areSent: boolean;
  /** The call that was not submitted at the last look: to look at all of them each time is a long slice. */
  #inTheWay: ClientCall | undefined;

  /** `leave`: nothing more of the scope is sent, and its callers hear nothing more of us. */
  constructor(
    { store, dryRun }: Pick<ResolvedOptions, 'store' | 'dryRun'>,
    engine: Pick<EngineEntry, 'current'>,
    leave: () => void,
  ) {
    this.store = store;
    this.#engine = engine;
    this.leave = leave;
    this.#areSent = !dryRun;
  }

  get all(): readonly ClientCall[] {
    return [...this.#calls];
  }

  get isIdle(): boolean {
    return this.#calls.size + this.#elsewhere === 0;
  }

  get hasNone(): boolean {
    return this.#calls.size === 0;
  }

  add(call: ClientCall): void {
    this.#calls.add(call);
    keepAlive.hold();
    if (this.#areSent && this.#calls.size === 1) inProcess.add(this);
  }

  remove(call: ClientCall): void {
    if (!this.#calls.delete(call)) return;
    if (this.#keepsUp) keepAlive.release();
    if (this.hasNone) inProcess.delete(this);
    this.#wakeIfIdle();
  }

  /** Counts a call that is somewhere else; returns how to tell that this is over. */
  waitFor(): () => void {
    this.#elsewhere += 1;
    return () => {
      this.#elsewhere -= 1;
      this.#wakeIfIdle();
    };
  }

  /** Resolves when no call is left. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#wakeIfIdle();
    });
  }

  /** The calls that would be left if the scope ended now. `reading`: calls whose body is not there yet. */
  tally(reading: number): LeftCalls {
    const batches = new Set<string>();
    let unsent = reading;
    let elsewhere = 0;
    for (const call of this.#calls) {
      const { isElsewhere, batchToken } = call.handle ?? {};
      if (isElsewhere) elsewhere += 1;
      else if (!isSent(call)) unsent += 1;
      else if (batchToken !== undefined) batches.add(batchToken);
    }
    return { unsent, elsewhere, batches: batches.size };
  }

  get isStored(): boolean {
    return this.#engine.current?.isStored ?? true;
  }

  get isSubmitted(): boolean {
    // Calls whose ledger is in memory end with the process.
    if (!this.isStored) return this.hasNone;
    const inTheWay = this.#inTheWay;
    if (inTheWay && this.#calls.has(inTheWay) && !isSubmitted(inTheWay)) return false;
    this.#inTheWay = undefined;
    for (const call of this.#calls) {
      if (isSubmitted(call)) continue;
      this.#inTheWay = call;
      return false;
    }
    return true;
  }

  waiting(): WaitingCalls {
    const batches = new Set<string>();
    let submitted = 0;
    let unclear = 0;
    let unsent = 0;
    for (const { handle, settled } of this.#calls) {
      const token = handle?.batchToken;
      if (token !== undefined) batches.add(token);
      if (token !== undefined || handle?.isElsewhere) submitted += 1;
      else if (handle?.isUnclear) unclear += 1;
      else if (!settled) unsent += 1;
    }
    return { submitted, batches, unclear, unsent };
  }

  releaseTimers(): void {
    for (const { timer } of this.#calls) timer?.unref?.();
  }

  /** The calls may go on, but the process waits for them no longer. No call may be added afterwards. */
  letProcessEnd(): void {
    if (!this.#keepsUp) return;
    this.#keepsUp = false;
    this.releaseTimers();
    for (const _ of this.#calls) keepAlive.release();
    inProcess.delete(this);
  }

  #wakeIfIdle(): void {
    if (!this.isIdle) return;
    for (const wake of this.#whenIdle.splice(0)) wake();
  }
}

/** The call is in a batch, or on its way into one; or it has its verdict and goes out. */
export function isSent({ handle, settled }: ClientCall): boolean {
  return settled || handle?.isSent === true;
}

/** Another process can wait for its answer. A call that goes out as an ordinary one needs this process. */
function isSubmitted({ handle, settled }: ClientCall): boolean {
  return !settled && handle?.isSubmitted === true;
}

/** Keeps the process up while the work is done. */
export async function whileUp<T>(work: () => Promise<T>): Promise<T> {
  keepAlive.hold();
  try {
    return await work();
  } finally {
    keepAlive.release();
  }
}
