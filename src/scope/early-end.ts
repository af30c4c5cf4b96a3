import type { RawAnswer } from '../hooks/state.ts';
import type { Target } from '../orchestrator/capture/router.ts';
import { answerHeaders } from '../orchestrator/model/answer-headers.ts';
import { ownAnswer } from '../orchestrator/model/own-answer.ts';

/** Why calls are not to go out any more: for their answer, or to be rejected with. */
export type EndReason = { readonly message: string } | { readonly reason: unknown };

/**
 * Who is rejected with this is told nothing: its promise stays unsettled and holds nothing. That is what
 * becomes of calls of a scope that an error has ended: often nobody awaits them any more, and a rejection
 * that nobody handles ends the process.
 */
export const dropped: unique symbol = Symbol('batchling.dropped');

/** How a scope, or what waits in it, comes to an end before its time. */
export class EarlyEnd {
  #over: EndReason | undefined;
  #line = new AbortController();
  readonly #listeners = new Set<(why: EndReason) => void>();

  /** An error or its signal has ended the scope: nothing more is spent, at no price. */
  get over(): EndReason | undefined {
    return this.#over;
  }

  /** An error has ended the scope. */
  get isDropping(): boolean {
    return this.#over !== undefined && 'reason' in this.#over && this.#over.reason === dropped;
  }

  /** After an error only good news is told: bad news may reach nobody, and end the process. */
  assertTold(status: number): void {
    if (status >= 400 && this.isDropping) throw dropped;
  }

  /** How many wait for something else than their turn. */
  get listening(): number {
    return this.#listeners.size;
  }

  /** Aborted, with an `EndReason`, when who waits for its turn to go out must not go any more. */
  get line(): AbortSignal {
    return this.#line.signal;
  }

  /**
   * For who waits for something else than its turn; returns how it stops listening. Not a listener of
   * the signal: thousands may wait at once, and each would be compared with all before it.
   */
  onSentAway(listener: (why: EndReason) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What comes first: the work, or that who waits for it is sent away, and why. */
  orSentAway(work: Promise<void>): Promise<EndReason | undefined> {
    return new Promise((resolve) => {
      const forget = this.onSentAway(resolve);
      void work.then(() => {
        forget();
        resolve(undefined);
      });
    });
  }

  end(reason: EndReason): void {
    this.#over = reason;
    this.sendAway(reason);
  }

  /** Whoever waits now; who comes later may go out. */
  sendAway(reason: EndReason): void {
    this.#line.abort(reason);
    this.#line = new AbortController();
    for (const tell of this.#listeners) tell(reason);
  }
}

/** What a call gets that is not to go out. */
export async function refuse(why: EndReason, target: Target): Promise<RawAnswer> {
  if ('reason' in why) throw why.reason;
  const answer = ownAnswer(await target.load(), 'cancelled', why.message);
  return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
}

/** For a caller: who is dropped hears nothing any more. */
export function unlessDropped<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    result.then(resolve, (reason: unknown) => {
      if (reason !== dropped) reject(reason);
    });
  });
}
