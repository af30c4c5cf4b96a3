import type { Answer, Clock } from '../../base/types.ts';
import type { UnstoredCosts } from '../answer/unstored-costs.ts';
import { factsOf } from '../events/events.ts';
import type { CapturedCall, EngineScope, RealtimeRoute, Spending, Verdict } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { Request } from '../model/request.ts';
import type { ClientRetryMemory, RequestQueue } from '../model/request-queue.ts';
import type { RealtimeCall } from '../submit/budgets.ts';
import type { AbandonedRequests } from './abandoned-requests.ts';
import type { OccurrenceCount } from './occurrences.ts';
import type { Prepared } from './prepare.ts';

/** A re-ask after an error is the client's retry only if it comes soon. */
const retryWindow = 60_000;
/** Clients that ignore `x-should-retry` come back so often at most. */
const mostRetries = 6;
/** The oldest are forgotten: a run of millions must not remember every trouble it had. */
const mostRemembered = 10_000;

interface FinalError {
  /** A retry comes from where the call came from. */
  readonly scope: EngineScope;
  readonly answer: Answer;
  until: number;
  left: number;
}

interface SentRealtime {
  readonly scope: EngineScope;
  readonly size: RealtimeCall['size'];
  readonly until: number;
}

/** Where the money of realtime calls is counted. */
interface RealtimeMoney {
  /** The part that a call has in the budget of its run. */
  newSpending(call: RealtimeCall): Spending;
  readonly costs: Pick<UnstoredCosts, 'add'>;
}

/**
 * Clients that come back for a request they have asked already. Their retry is not another sample: it
 * re-joins the request they gave up, or gets the same final error again.
 */
export class ClientRetries implements ClientRetryMemory {
  readonly #clock: Clock;
  readonly #abandoned: AbandonedRequests;
  readonly #money: RealtimeMoney | undefined;
  readonly #occurrences: OccurrenceCount | undefined;
  readonly #errors = new Map<string, FinalError>();
  readonly #realtime = new Map<string, SentRealtime>();
  readonly #keyed = new Map<string, number>();

  constructor(
    clock: Clock,
    abandoned: AbandonedRequests,
    money?: RealtimeMoney,
    occurrences?: OccurrenceCount,
  ) {
    this.#clock = clock;
    this.#money = money;
    this.#occurrences = occurrences;
    this.#abandoned = abandoned;
  }

  failed({ scope }: Caller, { queue, key }: Request, answer: Answer): void {
    // A cancel is nobody's error: a client that asks again means it.
    if (!isTriedAgain(answer.status)) return;
    const name = nameOf(queue, key);
    const known = this.#errors.get(name);
    const until = this.#clock.now() + retryWindow;
    const left = known?.scope === scope ? known.left : mostRetries;
    remember(this.#errors, name, { scope, answer, until, left });
  }

  gaveUp(caller: Caller, { key, occurrence }: Request): void {
    this.#abandoned.add(caller, key, occurrence);
  }

  read(caller: Caller): void {
    this.#abandoned.read(caller);
  }

  giveBack({ call }: Caller, { key, occurrence }: Request): void {
    this.#occurrences?.giveBack(key, occurrence, call.sampling);
  }

  ended(caller: Caller, request: Request): void {
    if (caller.isAbandoned) this.#abandoned.ended(caller);
    if (this.#occurrences?.ended && !request.isWaitedFor) {
      this.#occurrences.ended(request.key, request.occurrence);
    }
  }

  realtimeRoute(request: Request, scope: EngineScope): RealtimeRoute {
    const { queue, key, tokens, expects } = request;
    return this.#route(queue, key, scope, { tokens, expects });
  }

  /** What became of this call already, if it looks like the client's own retry. */
  verdict(queue: RequestQueue, key: string, scope: EngineScope): Verdict | undefined {
    if (this.#realtime.size + this.#errors.size === 0) return undefined;
    const now = this.#clock.now();
    const name = nameOf(queue, key);
    const realtime = this.#realtime.get(name);
    if (realtime?.scope === scope && realtime.until > now) {
      return { realtime: this.#route(queue, key, scope, realtime.size) };
    }
    const error = this.#errors.get(name);
    if (error?.scope !== scope) return undefined;
    if (now > error.until || error.left === 0) {
      this.#errors.delete(name);
      return undefined;
    }
    error.left -= 1;
    error.until = now + retryWindow;
    return { answer: error.answer, source: 'batch', itemId: '' };
  }

  /** The occurrence this call has asked for already: by its idempotency key, or abandoned. */
  occurrence(key: string, call: CapturedCall): number | undefined {
    const idempotencyKey = call.headers['idempotency-key'];
    const named =
      idempotencyKey === undefined ? undefined : this.#keyed.get(`${key}\n${idempotencyKey}`);
    return this.#abandoned.take(key, named) ?? named;
  }

  /** Remembers which occurrence a call with an idempotency key has. */
  named(key: string, idempotencyKey: string | undefined, occurrence: number): void {
    if (idempotencyKey === undefined) return;
    remember(this.#keyed, `${key}\n${idempotencyKey}`, occurrence);
  }

  #route(
    queue: RequestQueue,
    key: string,
    scope: EngineScope,
    size: RealtimeCall['size'],
  ): RealtimeRoute {
    const { batcher } = queue;
    const { budget, name, tags } = scope;
    const spending =
      budget === undefined ? undefined : this.#money?.newSpending({ queue, size, budget });
    const facts = factsOf(batcher, queue);
    const { provider, model } = facts;
    return {
      ...(spending && { spending }),
      facts,
      batcher,
      price: queue.price,
      addCost: (cost) =>
        this.#money?.costs.add({ provider, model, lane: 'realtime', name, tags }, cost),
      mayBeRetried: () => {
        const until = this.#clock.now() + retryWindow;
        remember(this.#realtime, nameOf(queue, key), { scope, size, until });
      },
    };
  }
}

/**
 * Where the ledger counts, a call that was given up has no occurrence before it is admitted. Its client's
 * retry may stand right behind it, and is admitted after it: otherwise it would be another sample.
 */
export function retriesApart<Call extends Prepared & { readonly caller: Caller }>(
  calls: readonly Call[],
): readonly (readonly Call[])[] {
  if (!calls.some(({ caller }) => caller.isAbandoned)) return [calls];
  const groups: Call[][] = [[]];
  let givenUp = new Set<string>();
  for (const call of calls) {
    const keys = call.parts.map(({ key }) => key);
    if (keys.some((key) => givenUp.has(key))) {
      groups.push([]);
      givenUp = new Set();
    }
    groups.at(-1)?.push(call);
    if (call.caller.isAbandoned) for (const key of keys) givenUp.add(key);
  }
  return groups;
}

/** Errors that clients like to try again. */
export function isTriedAgain(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** An error under one key of the user says nothing about another. */
function nameOf({ account }: RequestQueue, key: string): string {
  return `${account.id}\n${key}`;
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= mostRemembered) return;
  const [oldest] = map.keys();
  map.delete(oldest as string);
}
