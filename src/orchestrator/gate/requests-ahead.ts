import type { Answer } from '../../base/types.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { CanaryMode, OrdinaryLane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestGate, RequestQueue } from '../model/request-queue.ts';
import { Canaries } from './canaries.ts';
import { Primers } from './primers.ts';

interface Routes {
  /** They are packed and sent. */
  send(queue: RequestQueue, requests: readonly Request[]): void;
  /** It goes out as an ordinary call. */
  call(request: Request, lane: OrdinaryLane): void;
}

/**
 * Sends one request ahead of the others: of each kind (`canary`), then of each group that shares a cached prompt
 * (`primeCache`). What is held is in no batch: it can be aborted, ends at its deadline, and keeps a run from detaching.
 */
export class RequestsAhead implements RequestGate {
  readonly #context: EngineContext;
  readonly #routes: Routes;
  readonly #canaries: Canaries;
  readonly #primers: Primers;

  /** `refusedFor`: how long a kind stays stopped, in milliseconds. */
  constructor(context: EngineContext, routes: Routes, refusedFor = Number.POSITIVE_INFINITY) {
    this.#context = context;
    this.#routes = routes;
    this.#canaries = new Canaries(
      context,
      {
        sendAlone: (request, mode) => this.#sendAlone(request, mode),
        goOn: (queue, requests, after) => this.#goOn(queue, requests, after),
      },
      refusedFor,
    );
    this.#primers = new Primers(context, (queue, requests) => routes.send(queue, requests));
  }

  pass(queue: RequestQueue, requests: readonly Request[]): void {
    const canary = requests[0]?.scope.canary;
    if (!canary) {
      this.#goOn(queue, requests);
      return;
    }
    const passed = this.#canaries.pass(queue, requests, canary);
    this.#context.background('hold requests behind a canary', passed);
  }

  /** Whether a request of this kind would go on at once. */
  isOpen(queue: RequestQueue, kind: string): boolean {
    return this.#canaries.isOpen(queue, kind);
  }

  setBack(request: Request): void {
    this.#canaries.setBack(request);
  }

  isAhead(request: Request): boolean {
    return this.#canaries.isPilot(request) || this.#primers.isPilot(request);
  }

  left(request: Request): void {
    this.#primers.left(request);
  }

  ended(request: Request, answer: Answer | undefined, cost: Cost | undefined): void {
    this.#canaries.ended(request, answer);
    this.#primers.ended(request, answer, cost);
  }

  #goOn(queue: RequestQueue, requests: readonly Request[], after?: Request): void {
    const { lane, account } = queue;
    const batched: Request[] = [];
    for (const request of requests) {
      // Where calls must not go unbatched, the server refuses them once more, and they are told why.
      const isCalled = account.unserved === undefined || request.scope.mayGoUnbatched;
      if (lane !== 'batch' && isCalled) this.#routes.call(request, lane);
      else batched.push(request);
    }
    if (lane === 'batch' && requests[0]?.scope.primeCache) {
      const passed = this.#primers.pass(queue, requests, after);
      this.#context.background('hold requests behind a primer', passed);
    } else if (batched.length > 0) {
      this.#routes.send(queue, batched);
    }
  }

  /** A part of a call is no call of its own: its canary is a batch of one, too. Some providers take no such batch. */
  #sendAlone(request: Request, mode: CanaryMode): void {
    const { queue, callers } = request;
    const isPart = callers.some(({ part }) => part !== undefined);
    const { leastItems = 1 } = queue.limits;
    const isCall = mode === 'call' || leastItems > 1;
    if (queue.lane !== 'batch') this.#routes.call(request, queue.lane);
    else if (isCall && !isPart) this.#routes.call(request, 'realtime');
    else this.#routes.send(queue, [request]);
  }
}
