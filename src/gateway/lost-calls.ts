import type { CallHandle } from '../orchestrator/model/call.ts';
import { processCalls, type WaitingCalls, type WaitingScope } from '../scope/process-calls.ts';

/** How long a command may take to end after it has closed its connections, in milliseconds. */
const lastMoment = 500;

/** What is known here of a captured call. */
export interface LosableCall {
  readonly handle: CallHandle | undefined;
  giveUp(reason: unknown): void;
}

/**
 * Calls of a command whose connections have closed, for a moment. A command that dies closes them before its end is
 * known: its run is then one to be continued, and these calls are what it leaves.
 */
export class LostCalls implements WaitingScope {
  readonly isSubmitted = true;
  readonly store: string;
  readonly isStored: boolean;
  readonly #calls = new Set<LosableCall>();
  #isLeaving = false;

  constructor(store: string, isStored: boolean) {
    this.store = store;
    this.isStored = isStored;
  }

  add(call: LosableCall): void {
    this.#calls.add(call);
    processCalls().add(this);
    setTimeout(() => this.#forget(call), lastMoment).unref();
  }

  waiting(): WaitingCalls {
    const batches = new Set<string>();
    let unclear = 0;
    let unsent = 0;
    for (const { handle } of this.#calls) {
      const token = handle?.batchToken;
      if (token !== undefined) batches.add(token);
      if (handle?.isUnclear) unclear += 1;
      else if (!handle?.isSubmitted) unsent += 1;
    }
    return { submitted: this.#calls.size - unclear - unsent, batches, unclear, unsent };
  }

  /** Others may have asked the same and got its answer. */
  forgetAnswered(): void {
    for (const call of this.#calls) {
      const { isSubmitted, isElsewhere, batchToken } = call.handle ?? {};
      if (isSubmitted && !isElsewhere && batchToken === undefined) this.#forget(call);
    }
  }

  releaseTimers(): void {}

  leave(): void {
    this.#isLeaving = true;
  }

  #forget(call: LosableCall): void {
    if (this.#isLeaving) return;
    this.#calls.delete(call);
    if (this.#calls.size === 0) processCalls().delete(this);
  }
}
