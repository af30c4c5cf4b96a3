import type { Answer, Clock } from '../../types.ts';
import type { CapturedCall, EngineScope, PendingRequest, Verdict } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import type { AbandonedRequests } from './abandoned-requests.ts';

const second = 1_000;
/** Only at once is a re-ask after an error the client's retry. */
const retryWindow = 60 * second;
/** Clients that ignore `x-should-retry` come back so often at most. */
const mostRetries = 6;
/** Forget what nobody came back for. */
const mostRemembered = 10_000;

interface Sticky {
  /** A retry comes from where the call came from. */
  readonly scope: EngineScope;
  readonly answer: Answer;
  until: number;
  left: number;
}

/**
 * Clients that come back for a request they have asked already. Their retry is not another sample: it
 * re-joins the request they gave up, or gets the same final error again.
 */
export class Returning {
  readonly #clock: Clock;
  readonly abandoned: AbandonedRequests;
  readonly #errors = new Map<string, Sticky>();
  readonly #realtime = new Map<string, { readonly scope: EngineScope; readonly until: number }>();
  readonly #keyed = new Map<string, number>();

  constructor(clock: Clock, abandoned: AbandonedRequests) {
    this.#clock = clock;
    this.abandoned = abandoned;
  }

  /** The request ended in an error that clients like to try again. */
  failed(pending: PendingRequest, answer: Answer): void {
    const { status } = answer;
    // A cancel is nobody's error: who asks again means it.
    if (!isTriedAgain(status)) return;
    const key = keyOf(pending.queue, pending.key);
    const { scope } = pending;
    const known = this.#errors.get(key);
    const until = this.#clock.now() + retryWindow;
    const left = known?.scope === scope ? known.left : mostRetries;
    remember(this.#errors, key, { scope, answer, until, left });
  }

  /** What became of this call already, if it looks like the client's own retry. */
  verdict(queue: Queue, fingerprint: string, scope: EngineScope): Verdict | undefined {
    if (this.#realtime.size + this.#errors.size === 0) return undefined;
    const now = this.#clock.now();
    const key = keyOf(queue, fingerprint);
    const realtime = this.#realtime.get(key);
    if (realtime?.scope === scope && realtime.until > now) return { realtime: queue };
    const sticky = this.#errors.get(key);
    if (sticky?.scope !== scope) return undefined;
    if (now > sticky.until || sticky.left === 0) {
      this.#errors.delete(key);
      return undefined;
    }
    sticky.left -= 1;
    sticky.until = now + retryWindow;
    return { answer: sticky.answer, source: 'batch', itemId: '' };
  }

  /** Sent as an ordinary call that may be tried again by its client: that is one, too. */
  wentRealtime({ queue, key, scope }: PendingRequest): void {
    const until = this.#clock.now() + retryWindow;
    remember(this.#realtime, keyOf(queue, key), { scope, until });
  }

  /** The occurrence this call has asked for already: by its idempotency key, or abandoned. */
  occurrence(key: string, call: CapturedCall): number | undefined {
    const idempotencyKey = call.headers['idempotency-key'];
    const named =
      idempotencyKey === undefined ? undefined : this.#keyed.get(`${key}\n${idempotencyKey}`);
    return this.abandoned.take(key, named) ?? named;
  }

  /** Remembers which occurrence a call with an idempotency key has. */
  named(key: string, idempotencyKey: string | undefined, occurrence: number): void {
    if (idempotencyKey === undefined) return;
    remember(this.#keyed, `${key}\n${idempotencyKey}`, occurrence);
  }
}

/** Errors that clients like to try again. */
export function isTriedAgain(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** An error under one key of the user says nothing about another. */
function keyOf(queue: Queue, fingerprint: string): string {
  return `${queue.account.id}\n${fingerprint}`;
}

/** Oldest out: a run of millions must not remember every trouble it had. */
function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= mostRemembered) return;
  const [oldest] = map.keys();
  map.delete(oldest as string);
}
