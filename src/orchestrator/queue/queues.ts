import type { Dict } from '../../base/types.ts';
import type { Batcher, Route } from '../../batchers/batcher.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import type { QueueId, QueueKey } from '../../ledger/ledger.ts';
import type { CallTarget, CapturedCall, EngineScope, Lane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { QueueAccount, RequestGate } from '../model/request-queue.ts';
import { type Flush, Queue, type QueueSpec } from './queue.ts';
import { areSameHeaders, queueKey, withOfferedWindow } from './queue-terms.ts';

interface Services extends Pick<QueueSpec, 'bodies' | 'clientRetries' | 'sendOrdinary'> {
  /** For queues of scopes that want some requests sent ahead of others. */
  readonly gate: RequestGate;
  /** The lane that requests of a new queue take, where its scope wants this one. */
  laneOf(
    queue: Pick<QueueSpec, 'batcher' | 'account' | 'wire' | 'endpoint' | 'model'>,
    wanted: Lane,
    scope: EngineScope,
  ): Promise<Lane>;
}

/** What of a call decides about its queue. */
type QueuedCall = Pick<CapturedCall, 'scope' | 'target'>;

/** The queues of one engine, found by their full key. */
export class Queues {
  readonly #context: EngineContext;
  readonly #services: Services;
  readonly #flush: Flush;
  readonly #queues = new Map<string, Queue>();
  /** The next call nearly always belongs to the same queue: then no key has to be made for it. */
  #last: LastFound | undefined;
  #withdrawn: number[] = [];

  constructor(context: EngineContext, services: Services, flush: Flush) {
    this.#context = context;
    this.#services = services;
    this.#flush = flush;
  }

  /** Finds a queue that is there already without waiting. Nearly every call goes this way. */
  known(call: QueuedCall, route: Route, account: QueueAccount): Queue | undefined {
    if (this.#last && isForSameQueue(this.#last, call, route, account)) return this.#last.queue;
    const queue = this.#queues.get(queueKey(call, route, account.id));
    if (queue) {
      const { endpoint, model, partition, batchHeaders } = route;
      const { scope, target } = call;
      this.#last = { queue, scope, target, account, endpoint, model, partition, batchHeaders };
    }
    return queue;
  }

  async open(call: QueuedCall, route: Route, account: QueueAccount): Promise<Queue> {
    const { batcher, wireBase: base, configured: isConfigured } = call.target;
    const { endpoint, model, batchHeaders, partition, lacks } = route;
    const stored: QueueKey = {
      account: account.id,
      provider: batcher.info.name,
      base,
      endpoint,
      model,
      batchHeaders,
      ...(partition !== undefined && { partition }),
    };
    const id = await this.#context.ledger.queue(stored);
    const wire = account.wire(batcher);
    const { policy } = call.scope;
    const asked = { batcher, account, wire, endpoint, model };
    const lane = await this.#services.laneOf(asked, policy.lane, call.scope);
    const key = queueKey(call, route, account.id);
    // Another call may have opened it meanwhile.
    const known = this.#queues.get(key);
    if (known) return known;
    const settings = call.scope.settings(batcher.info.name);
    const { canary, primeCache } = call.scope;
    // All scopes of a queue want the same: it is part of the queue key.
    const gate = canary || primeCache ? this.#services.gate : undefined;
    const spec = { id, ...asked, isConfigured, lane, lacks, batchHeaders, policy, settings, gate };
    const queue = new Queue({ ...this.#services, ...spec }, this.#context.clock, this.#flush);
    this.#queues.set(key, queue);
    this.#tellFullPrice(queue, call.scope);
    return queue;
  }

  /** The queue of a batch that another program has sent. Nothing new is queued there. */
  reopen(
    { id, endpoint, model, batchHeaders }: QueueKey & { readonly id: QueueId },
    { batcher, account, scope }: QueuePlace,
  ): Queue {
    const key = `reopened ${id}`;
    const known = this.#queues.get(key);
    if (known) return known;
    const settings = scope.settings(batcher.info.name);
    const asked = { batcher, endpoint, model, policy: scope.policy, settings };
    // The ledger does not say in what time a batch was to be finished, so one that is offered will do.
    const terms = { ...asked, policy: withOfferedWindow(asked) };
    const place = { account, wire: account.wire(batcher), isConfigured: false, lacks: undefined };
    const lane = 'batch' as const;
    const spec = { id, ...place, ...terms, lane, batchHeaders, gate: undefined };
    const queue = new Queue({ ...this.#services, ...spec }, this.#context.clock, this.#flush);
    this.#queues.set(key, queue);
    return queue;
  }

  /** Tells people before anything is sent, so that they may still stop the program. */
  #tellFullPrice({ batcher, model, completionWindow }: Queue, scope: EngineScope): void {
    if (completionWindow.priceShare < 1) return;
    const { name } = batcher.info;
    const text =
      `${name} has no batch discount for ${model} that batchling knows of: its batches cost the full price. ` +
      `If yours do not, say so: providers: { ${name}: { priceShare: { '${model}': 0.5 } } }.`;
    this.#context.logger.warn(text);
    scope.emit('notice', { notice: 'hint', text });
  }

  /** Sends what waits in any queue: of one scope, or all of it. */
  flush(scope?: EngineScope): void {
    for (const queue of this.#queues.values()) queue.flush(scope);
  }

  /** A caller of this request has gone. If it was the last one, the request is never sent. */
  leave(request: Request): void {
    if (request.isUnsent && !request.isWaitedFor) this.withdraw([request]);
  }

  /** Forgets requests that are in no batch. */
  withdraw(requests: readonly Request[]): void {
    for (const request of requests) {
      request.queue.remove(request);
      request.end();
      this.#withdrawn.push(request.row);
    }
    // Thousands may go in one turn: one transaction for all of them.
    if (this.#withdrawn.length === requests.length && requests.length > 0) {
      this.#context.background('withdraw requests', this.#writeWithdrawals());
    }
  }

  async #writeWithdrawals(): Promise<void> {
    await nextTurn();
    const { ledger, owner } = this.#context;
    const rows = this.#withdrawn.splice(0);
    await owner.run((id) => ledger.withdraw(id, rows));
  }

  close(): void {
    for (const queue of this.#queues.values()) queue.close();
  }
}

/** What a queue is reopened with. */
interface QueuePlace {
  readonly batcher: Batcher;
  readonly account: QueueAccount;
  readonly scope: EngineScope;
}

/** All that decides about the queue of a call, and the queue. */
interface LastFound {
  readonly queue: Queue;
  readonly scope: EngineScope;
  readonly target: CallTarget;
  readonly account: QueueAccount;
  readonly endpoint: string;
  readonly model: string;
  readonly partition: string | undefined;
  readonly batchHeaders: Dict;
}

function isForSameQueue(
  last: LastFound,
  { scope, target }: QueuedCall,
  route: Route,
  account: QueueAccount,
): boolean {
  return (
    account === last.account &&
    scope === last.scope &&
    target === last.target &&
    route.model === last.model &&
    route.endpoint === last.endpoint &&
    route.partition === last.partition &&
    areSameHeaders(route.batchHeaders, last.batchHeaders)
  );
}
