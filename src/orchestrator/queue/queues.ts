import { setImmediate as immediate } from 'node:timers/promises';
import type { Route } from '../../batchers/batcher.ts';
import type { QueueKey } from '../../ledger/ledger.ts';
import type { Dict } from '../../types.ts';
import type { Account, Accounts } from '../capture/accounts.ts';
import type { SplitHeaders } from '../capture/credentials.ts';
import type { Target } from '../capture/router.ts';
import type { Workshop } from '../model/engine-context.ts';
import {
  type CapturedCall,
  type EngineScope,
  type PendingRequest,
  standingFor,
} from '../model/request.ts';
import { type Flush, Queue, type QueueSpec } from './queue.ts';

type Services = Pick<QueueSpec, 'spool' | 'returning'>;

/** The queues of one engine, found by their full key. */
export class Queues {
  readonly #workshop: Workshop;
  readonly #accounts: Accounts;
  readonly #services: Services;
  readonly #flush: Flush;
  readonly #queues = new Map<string, Queue>();
  /** The next call nearly always belongs to the same queue: then no key has to be made for it. */
  #last: Belonging | undefined;
  #withdrawn: number[] = [];

  constructor(workshop: Workshop, accounts: Accounts, services: Services, flush: Flush) {
    this.#services = services;
    this.#workshop = workshop;
    this.#accounts = accounts;
    this.#flush = flush;
  }

  /** Without waiting, where the queue is there already: the way of nearly every call. */
  known(call: CapturedCall, route: Route, headers: SplitHeaders): Queue | undefined {
    if (this.#last && belongsTo(this.#last, call, route, headers)) return this.#last.queue;
    const account = this.#accounts.known(headers, call.target.wireBase);
    const queue = account && this.#queues.get(queueKey(call, route, account));
    if (queue) {
      const { endpoint, model, partition, batchHeaders } = route;
      const { scope, target } = call;
      this.#last = { queue, scope, target, headers, endpoint, model, partition, batchHeaders };
    }
    return queue;
  }

  async open(call: CapturedCall, route: Route, headers: SplitHeaders): Promise<Queue> {
    const { batcher, wireBase } = call.target;
    const account = await this.#accounts.open(headers, batcher, wireBase);
    const key = queueKey(call, route, account);
    return this.#queues.get(key) ?? (await this.#create(key, call, route, account, wireBase));
  }

  async #create(
    key: string,
    call: CapturedCall,
    route: Route,
    account: Account,
    base: string,
  ): Promise<Queue> {
    const { batcher } = call.target;
    const stored: QueueKey = {
      account: account.id,
      provider: batcher.info.name,
      base,
      endpoint: route.endpoint,
      model: route.model,
      batchHeaders: route.batchHeaders,
      ...(route.partition !== undefined && { partition: route.partition }),
    };
    const queue = new Queue(
      {
        id: await this.#workshop.ledger.queue(stored),
        batcher,
        account,
        wire: account.wire(batcher),
        endpoint: route.endpoint,
        model: route.model,
        batchHeaders: route.batchHeaders,
        policy: call.scope.policy,
        ...this.#services,
      },
      this.#workshop.clock,
      this.#flush,
    );
    this.#queues.set(key, queue);
    return queue;
  }

  /** Sends what waits in any queue: of one scope, or all of it. */
  flush(scope?: EngineScope): void {
    for (const queue of this.#queues.values()) queue.flush(scope);
  }

  /** A caller has gone whose request is in no batch yet. Another one may stand for it. */
  leave(pending: PendingRequest): void {
    // Too late to take it out of a plan.
    if (!pending.owns || pending.planning) return;
    const next = standingFor(pending.waiters());
    if (next === undefined) {
      this.withdraw([pending]);
      return;
    }
    pending.queue.remove(pending);
    next.queue.add(next);
  }

  /** Forgets requests that are in no batch yet. */
  withdraw(requests: readonly PendingRequest[]): void {
    for (const pending of requests) {
      // Taken out of its queue by a flush, it may be on its way into a plan, which needs the body.
      const flushed = pending.queued && !pending.queue.remove(pending);
      if (!flushed) pending.queue.spool.letGo(pending);
      this.#withdrawn.push(pending.request);
    }
    // Thousands may go in one turn: one transaction for all of them.
    if (this.#withdrawn.length === requests.length && requests.length > 0) {
      this.#workshop.background('withdraw requests', this.#writeWithdrawals());
    }
  }

  async #writeWithdrawals(): Promise<void> {
    await immediate();
    const { ledger, owner } = this.#workshop;
    await ledger.withdraw(owner, this.#withdrawn.splice(0));
  }

  close(): void {
    for (const queue of this.#queues.values()) queue.close();
  }
}

/** All that decides about the queue of a call, and the queue. */
interface Belonging {
  readonly queue: Queue;
  readonly scope: EngineScope;
  readonly target: Target;
  /** The very same object for calls of one client. */
  readonly headers: SplitHeaders;
  readonly endpoint: string;
  readonly model: string;
  readonly partition: string | undefined;
  readonly batchHeaders: Dict;
}

function belongsTo(
  { scope, target, headers, endpoint, model, partition, batchHeaders }: Belonging,
  call: CapturedCall,
  route: Route,
  split: SplitHeaders,
): boolean {
  return (
    split === headers &&
    call.scope === scope &&
    call.target === target &&
    route.model === model &&
    route.endpoint === endpoint &&
    route.partition === partition &&
    areEqual(route.batchHeaders, batchHeaders)
  );
}

function areEqual(one: Dict, other: Dict): boolean {
  for (const name in one) if (one[name] !== other[name]) return false;
  for (const name in other) if (!(name in one)) return false;
  return true;
}

function queueKey(call: CapturedCall, route: Route, account: Account): string {
  const { target, scope } = call;
  let key = `${target.batcher.info.name}\n${route.endpoint}\n${route.model}\n${target.wireBase}`;
  key += `\n${account.id}\n${scope.policyKey}\n${route.partition ?? ''}`;
  for (const name in route.batchHeaders) key += `\n${name}: ${route.batchHeaders[name]}`;
  return key;
}
