import type { BatchFailure } from '../../batchers/batcher.ts';
import { orAborted } from '../../concurrency/backoff.ts';
import type { EngineScope } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { type Reservation, TokenQuota } from './token-quota.ts';

/** What a permit is for. */
export interface PermitFacts {
  readonly queue: RequestQueue;
  readonly tokens: number;
  /** Requests of the batch. */
  readonly count: number;
  /** Its requests are known by this one when they ask for a permit again. */
  readonly first: Request | undefined;
  /** The scopes of the callers that wait. */
  scopes(): Iterable<EngineScope>;
}

/**
 * The right of one batch to be under way: tokens of its model's quota, and a slot among the batches of its
 * account. It is taken before the batch is planned, and given back once, when the batch is over.
 */
export class Permit {
  readonly #context: EngineContext;
  readonly #quota: TokenQuota;
  readonly #facts: PermitFacts;
  #reservation: Reservation | undefined;
  #holdsSlot = false;

  constructor(context: EngineContext, quota: TokenQuota, facts: PermitFacts) {
    this.#context = context;
    this.#quota = quota;
    this.#facts = facts;
  }

  /** Less is known to fit than when the batch was packed. */
  get isTooMuch(): boolean {
    return this.#facts.count > 1 && this.#facts.tokens > this.#quota.limit;
  }

  /** Waiting for room is of no use for so many of its requests. */
  isHopeless(count: number): boolean {
    const { first, tokens } = this.#facts;
    return first !== undefined && this.#quota.isHopeless(first, tokens, count);
  }

  /** Waits for tokens, and unless they turn out to be too many, for a slot. */
  async acquire(signal: AbortSignal, said?: string): Promise<void> {
    this.#reservation = this.#quota.reserve(this.#facts.tokens, this.#facts.first);
    await this.#tell(
      `room ${this.#facts.queue.model}`,
      this.#quotaText(said),
      orAborted(this.#reservation.granted, signal),
    );
    if (!this.isTooMuch) await this.takeSlot(signal);
  }

  /** Takes tokens and a slot for a batch that is under way already, whether there is room or not. */
  occupy(): void {
    this.#reservation ??= this.#quota.occupy(this.#facts.tokens, this.#facts.first);
    if (!this.#holdsSlot) this.#facts.queue.account.slots.occupy();
    this.#holdsSlot = true;
  }

  async takeSlot(signal: AbortSignal): Promise<void> {
    if (this.#holdsSlot) return;
    const { queue, scopes } = this.#facts;
    const most = queue.mostInFlight(scopes());
    await this.#tell(
      'slot',
      this.#slotText(most),
      queue.account.slots.acquire(most, signal, queue),
    );
    this.#holdsSlot = true;
  }

  /** A batch that has to wait before it is created lets another one have its slot. */
  freeSlot(): void {
    if (this.#holdsSlot) this.#facts.queue.account.slots.release();
    this.#holdsSlot = false;
  }

  /** The provider has taken the batch. */
  proved(): void {
    this.#reservation?.proved();
  }

  /** The provider had no room for the batch. */
  refused(failure: BatchFailure): void {
    this.freeSlot();
    this.#reservation?.refused(failure);
  }

  /** Releasing twice is a no-op. */
  release(): void {
    this.freeSlot();
    this.#reservation?.leave();
  }

  /** People are told where a batch has to wait for others to end. */
  #tell(what: string, text: () => string, wait: Promise<void>): Promise<void> {
    const { queue, scopes } = this.#facts;
    const { name: provider } = queue.batcher.info;
    const waits = what === 'slot' ? { provider } : { provider, model: queue.model };
    const concerned = { wire: queue.wire, scopes: scopes(), waits };
    return this.#context.troubles.whileWaiting(concerned, what, text, wait);
  }

  #quotaText(said: string | undefined): () => string {
    const { batcher, model } = this.#facts.queue;
    const reason = said === undefined ? '' : ` (${said.slice(0, 160).replace(/\.$/, '')})`;
    return () =>
      `${batcher.info.name} has no room for more of ${model} now${reason}; the rest is sent ` +
      'as soon as batches under way have ended. No attempt is used up';
  }

  #slotText(most: number): () => string {
    const { batcher } = this.#facts.queue;
    return () =>
      `${batcher.info.name} has ${most} ${most === 1 ? 'batch' : 'batches'} under way, the most at ` +
      'once (maxInFlight); the next is sent when one of them ends';
  }
}

/** Limits are raised: tomorrow we try again. */
const remembered = 24 * 3_600_000;

/** Gives out the permits of one engine. Token quotas are by account, base and model; named limits are kept in the ledger. */
export class Permits {
  readonly #context: EngineContext;
  readonly #quotas = new Map<string, Promise<TokenQuota>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  newPermit(quota: TokenQuota, facts: PermitFacts): Permit {
    return new Permit(this.#context, quota, facts);
  }

  quotaOf(queue: RequestQueue): Promise<TokenQuota> {
    const key = `${queue.account.id}\n${nameOf(queue)}`;
    let quota = this.#quotas.get(key);
    if (quota === undefined) {
      quota = this.#open(queue);
      this.#quotas.set(key, quota);
    }
    return quota;
  }

  async close(): Promise<void> {
    for (const quota of this.#quotas.values()) (await quota).close();
  }

  async #open(queue: RequestQueue): Promise<TokenQuota> {
    const { account, limits } = queue;
    const name = nameOf(queue);
    const { ledger, clock, background } = this.#context;
    const { tokens, outlives } = limits;
    const onNamed = (named: number) => {
      const noted = ledger.learn(account.id, name, { tokens: named, named: true });
      background(`note how much of ${name} may be under way`, noted);
    };
    return new TokenQuota(
      clock,
      (await this.#known(account.id, name)) ?? tokens,
      outlives,
      onNamed,
    );
  }

  /** A ledger that cannot be read costs a refusal, not the batch. */
  async #known(account: number, name: string): Promise<number | undefined> {
    const { ledger, report } = this.#context;
    try {
      const known = await ledger.limit(account, name);
      return known?.named && known.age < remembered ? known.tokens : undefined;
    } catch (error) {
      report(`look up how much of ${name} may be under way`, error);
      return undefined;
    }
  }
}

/** One key may be used at several bases, a dummy one above all: each has a quota of its own. */
function nameOf({ model, wire }: RequestQueue): string {
  return `${model} at ${wire.base}`;
}
