import type { RawAnswer } from '../../hooks/state.ts';
import { answerHeaders } from '../../orchestrator/answer/answer-headers.ts';
import { ownAnswer } from '../../orchestrator/answer/own-answer.ts';
import type { Target } from '../../orchestrator/capture/router.ts';

/** Why calls are no longer sent: the message of their answer, or the reason to reject them with. */
export type EndReason = { readonly message: string } | { readonly reason: unknown };

/**
 * A call that fails with this reason stays unsettled: its promise is neither resolved nor rejected. So
 * end the calls of a scope whose function threw: often no code awaits them any more, and an unhandled
 * rejection ends the process.
 */
export const dropped: unique symbol = Symbol('batchling.dropped');

/** Ends a scope early (by an error or its signal), or only the calls that wait in it (by `cancel()`). */
export class EarlyEnd {
  #over: EndReason | undefined;
  #line = new AbortController();
  readonly #listeners = new Set<(why: EndReason) => void>();

  /** Why the scope has ended early; from then on nothing more is sent. */
  get over(): EndReason | undefined {
    return this.#over;
  }

  /** The scope's function threw. */
  get isDropping(): boolean {
    return this.#over !== undefined && 'reason' in this.#over && this.#over.reason === dropped;
  }

  /** After an error in the scope's function, only good answers are delivered: see `dropped`. */
  assertTold(status: number): void {
    if (status >= 400 && this.isDropping) throw dropped;
  }

  /** How many calls wait for something else than their turn, such as their body. */
  get listening(): number {
    return this.#listeners.size;
  }

  /** Aborts, with an `EndReason`, when calls that wait for their turn must not be sent any more. */
  get line(): AbortSignal {
    return this.#line.signal;
  }

  /**
   * For calls that wait for something else than their turn; returns the unsubscribe function. Not a
   * listener of the signal: with thousands of them, adding one compares it with all others.
   */
  onSentAway(listener: (why: EndReason) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with `undefined` when the work is done, or with the reason if the wait is ended first. */
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

  /** Ends the calls that wait now; later calls are sent. */
  sendAway(reason: EndReason): void {
    this.#line.abort(reason);
    this.#line = new AbortController();
    for (const listener of this.#listeners) listener(reason);
  }
}

/** The answer to a call that is not sent; throws where it is to be rejected. */
export async function refuse(why: EndReason, target: Target): Promise<RawAnswer> {
  if ('reason' in why) throw why.reason;
  const answer = ownAnswer(await target.load(), 'cancelled', why.message);
  return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
}

/** The result for a caller; stays unsettled where the call was dropped. */
export function unlessDropped<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    result.then(resolve, (reason: unknown) => {
      if (reason !== dropped) reject(reason);
    });
  });
}
