import { setMaxListeners } from 'node:events';
import type { BodyToCome } from '../../hooks/border.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import type { Delivery } from '../../orchestrator/model/call.ts';
import { ownDelivery } from './own-delivery.ts';

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
  /** Why the scope has ended early; from then on nothing more is sent. */
  over: EndReason | undefined;
  #line = new AbortController();
  readonly #listeners = new Set<(why: EndReason) => void>();

  /** The scope's function threw, or the process leaves: only good answers are delivered, see `dropped`. */
  get isDropping(): boolean {
    return this.over !== undefined && isDrop(this.over);
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
  #onSentAway(listener: (why: EndReason) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with `undefined` when the work is done, or with the reason if the wait is ended first. */
  orSentAway(work: Promise<void>): Promise<EndReason | undefined> {
    return new Promise((resolve) => {
      const forget = this.#onSentAway(resolve);
      void work.then(() => {
        forget();
        resolve(undefined);
      });
    });
  }

  /** The body, or why the call has ended before it was read. The caller's abort rejects. */
  async readBody(
    { text, drop }: BodyToCome,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly body: string | undefined } | { readonly over: EndReason }> {
    let settle = () => {};
    const ended = new Promise<{ readonly over: EndReason }>((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      // One signal may serve thousands of calls, and Node warns at the eleventh listener.
      if (signal) setMaxListeners(0, signal);
      signal?.addEventListener('abort', onAbort, { once: true });
      const forget = this.#onSentAway((over) => resolve({ over }));
      settle = () => {
        signal?.removeEventListener('abort', onAbort);
        forget();
      };
    });
    ended.then(({ over }) => drop(over), drop);
    try {
      return await Promise.race([text.then((body) => ({ body })), ended]);
    } finally {
      settle();
    }
  }

  end(reason: EndReason): void {
    this.over = reason;
    this.sendAway(reason);
  }

  /** Ends the calls that wait now; later calls are sent. */
  sendAway(reason: EndReason): void {
    this.#line.abort(reason);
    this.#line = new AbortController();
    for (const listener of this.#listeners) listener(reason);
  }
}

export function isDrop(why: EndReason): boolean {
  return 'reason' in why && why.reason === dropped;
}

/** The answer to a call that is not sent; throws where it is to be rejected. */
export async function refusal(why: EndReason, target: Target): Promise<Delivery> {
  if ('reason' in why) throw why.reason;
  return ownDelivery(await target.load(), 'cancelled', why.message);
}

/** The result for a caller; stays unsettled where the call was dropped. */
export function unlessDropped<T>(result: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    result.then(resolve, (reason: unknown) => {
      if (reason !== dropped) reject(reason);
    });
  });
}
