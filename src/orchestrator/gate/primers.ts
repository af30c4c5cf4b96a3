import type { Answer } from '../../base/types.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import type { Cost } from '../../ledger/ledger.ts';
import { dollars } from '../../pricing/dollars.ts';
import type { CachePrefix } from '../../pricing/expectation.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import { isWorthPriming, primingValue, savingOf } from '../../pricing/priming-value.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { PrefixGate } from './prefix-gate.ts';
import { tellUsers } from './tell-users.ts';

/** An entry of five minutes may be gone by the time that a primer was under way for so long. */
const longPrimer = 4 * 60_000;

type Send = (queue: RequestQueue, requests: readonly Request[]) => void;

/**
 * One of the requests that share what their provider is asked to cache goes as a batch of its own, and the others
 * when it has ended: requests of one batch run together, and each would write the cache for itself.
 */
export class Primers {
  readonly #context: EngineContext;
  readonly #send: Send;
  readonly #groups = new WeakMap<RequestQueue, Map<string, PrefixGate>>();
  readonly #pilots = new Map<Request, PrefixGate>();
  readonly #followers = new Map<Request, PrefixGate>();
  readonly #told = new Set<string>();

  constructor(context: EngineContext, send: Send) {
    this.#context = context;
    this.#send = send;
  }

  /** `after`: a canary that was answered in a batch a moment ago, and has written the cache of its group. */
  async pass(queue: RequestQueue, requests: readonly Request[], after?: Request): Promise<void> {
    const [first] = requests;
    if (first === undefined) return;
    const why = reasonAgainst(queue, first);
    if (why !== undefined) {
      this.#tellOnce(requests, why);
      this.#send(queue, requests);
      return;
    }
    const { report } = this.#context;
    await loadPrices().catch((error: unknown) => report('load the list prices', error));
    if (after?.expects.cachePrefix) this.#warmed(queue, after.expects.cachePrefix);
    const free: Request[] = [];
    for (const [prefix, group] of byPrefix(queue, requests, free)) {
      this.#passGroup(queue, prefix, group, free);
    }
    if (free.length > 0) this.#send(queue, free);
  }

  isPilot(request: Request): boolean {
    return this.#pilots.has(request);
  }

  /** How often the cache was read is not known of it. */
  left(request: Request): void {
    this.#followers.delete(request);
  }

  /** A request has its answer, or is forgotten without one. */
  ended(request: Request, answer: Answer | undefined, cost: Cost | undefined): void {
    const primed = this.#pilots.get(request);
    if (primed) {
      this.#pilots.delete(request);
      this.#context.background('go on after a primer', this.#primerEnded(primed, request, answer));
      return;
    }
    const gate = this.#followers.get(request);
    if (gate === undefined) return;
    this.#followers.delete(request);
    const said = gate.followerEnded(answer, cost);
    if (said !== undefined) tellUsers(this.#context, [request], said);
  }

  #passGroup(
    queue: RequestQueue,
    prefix: CachePrefix,
    group: readonly Request[],
    free: Request[],
  ): void {
    const gate = this.#groups.get(queue)?.get(prefix.key);
    if (gate?.state.is === 'closed') {
      for (const request of group) {
        if (gate.isPilot(request)) this.#cameBack(gate, request, free);
        else gate.hold(request);
      }
    } else if (gate?.isGivenUp) {
      for (const request of group) free.push(request);
    } else if (gate?.isWarm(this.#context.clock.now())) {
      this.#follow(gate, group);
      for (const request of group) free.push(request);
    } else if (!this.#prime(queue, prefix, group, gate)) {
      for (const request of group) free.push(request);
    }
  }

  /** False: it does not pay. */
  #prime(
    queue: RequestQueue,
    prefix: CachePrefix,
    group: readonly Request[],
    known: PrefixGate | undefined,
  ): boolean {
    const value = primingValue(queue, prefix);
    if (value === undefined || !isWorthPriming(value, group.length - 1)) return false;
    const gate = known ?? this.#newGate(queue, prefix, value);
    if (known) known.moveTo({ is: 'closed', pilot: undefined });
    for (const request of group) gate.hold(request);
    const tokens = (prefix.tokens + prefix.hourTokens).toLocaleString('en-US');
    tellUsers(
      this.#context,
      group,
      `${queue.model}: 1 of ${group.length} requests that share about ${tokens} tokens goes ahead and writes the prompt ` +
        `cache; the others follow when its batch has ended. That saves up to ${dollars(savingOf(value, group.length - 1))}`,
    );
    this.#sendNext(gate);
    return true;
  }

  #newGate(queue: RequestQueue, prefix: CachePrefix, value: PrefixGate['value']): PrefixGate {
    const groups = this.#groups.get(queue) ?? new Map<string, PrefixGate>();
    this.#groups.set(queue, groups);
    const gate = new PrefixGate(queue, prefix, value);
    groups.set(prefix.key, gate);
    return gate;
  }

  #warmed(queue: RequestQueue, prefix: CachePrefix): void {
    const value = primingValue(queue, prefix);
    if (value === undefined || this.#groups.get(queue)?.has(prefix.key)) return;
    const gate = this.#newGate(queue, prefix, value);
    gate.moveTo({ is: 'open' });
    gate.used(this.#context.clock.now());
  }

  #sendNext(gate: PrefixGate): void {
    const pilot = gate.nextPilot();
    if (pilot === undefined) {
      gate.moveTo({ is: 'open' });
      return;
    }
    gate.sentAt = this.#context.clock.now();
    this.#pilots.set(pilot, gate);
    this.#send(gate.queue, [pilot]);
  }

  /** Its batch was not created, or it is worth another attempt, which the others do not wait for. */
  #cameBack(gate: PrefixGate, pilot: Request, free: Request[]): void {
    if (pilot.attempt === 0) {
      this.#send(gate.queue, [pilot]);
      return;
    }
    this.#pilots.delete(pilot);
    gate.moveTo({ is: 'open' });
    free.push(pilot);
    for (const request of gate.release()) free.push(request);
  }

  async #primerEnded(gate: PrefixGate, primer: Request, answer: Answer | undefined): Promise<void> {
    // Whatever ends this request may be in the middle of ending others, too.
    await nextTurn();
    if (answer === undefined) {
      this.#sendNext(gate);
      return;
    }
    gate.moveTo({ is: 'open' });
    const held = gate.release();
    if (answer.status < 300) {
      this.#tellLong(gate, primer);
      this.#follow(gate, held);
    }
    if (held.length > 0) this.#send(gate.queue, held);
  }

  /** Each request that reads an entry renews it. */
  #follow(gate: PrefixGate, requests: readonly Request[]): void {
    gate.used(this.#context.clock.now());
    for (const request of requests) {
      if (!this.#followers.has(request)) gate.followers += 1;
      this.#followers.set(request, gate);
    }
  }

  #tellLong(gate: PrefixGate, primer: Request): void {
    const took = this.#context.clock.now() - gate.sentAt;
    if (!gate.isShortLived || took <= longPrimer) return;
    const minutes = Math.round(took / 60_000);
    this.#tellOnce(
      [primer],
      `${gate.queue.model}: the batch that wrote the prompt cache took ${minutes} minutes, and its entry lives for five: ` +
        'the requests after it may find nothing there. cache_control: { type: "ephemeral", ttl: "1h" } lives for an hour',
    );
  }

  #tellOnce(requests: readonly Request[], text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    tellUsers(this.#context, requests, text);
  }
}

/** Why nothing of a queue is primed; `undefined`: it may be. */
function reasonAgainst({ limits, batcher }: RequestQueue, { scope }: Request): string | undefined {
  if (limits.cacheMinimum === undefined) {
    return `primeCache does nothing at ${batcher.info.name}: its batches share no prompt cache that batchling knows of`;
  }
  if (scope.deadline !== undefined) {
    return 'primeCache does nothing where there is a deadline: the requests after a primer would wait for a batch more';
  }
  return undefined;
}

/** Requests by what they share. Those that share nothing that is cached are added to `free`. */
function byPrefix(
  { limits }: RequestQueue,
  requests: readonly Request[],
  free: Request[],
): readonly (readonly [CachePrefix, readonly Request[]])[] {
  const groups = new Map<string, [CachePrefix, Request[]]>();
  for (const request of requests) {
    const { cachePrefix: prefix } = request.expects;
    const isCached =
      prefix !== undefined && prefix.tokens + prefix.hourTokens >= (limits.cacheMinimum ?? 0);
    if (!isCached) {
      free.push(request);
      continue;
    }
    const group = groups.get(prefix.key);
    if (group) group[1].push(request);
    else groups.set(prefix.key, [prefix, [request]]);
  }
  return [...groups.values()];
}
