import type { Batcher, Outcome, Remote } from '../../batchers/batcher.ts';
import type { Wire } from '../../http/wire.ts';
import type { Lease, RequestId } from '../../ledger/ledger.ts';
import type { Answer, Handle, ItemId } from '../../types.ts';
import type { Queue } from '../queue/queue.ts';
import type { Place } from '../submit/token-quota.ts';
import { type BatchlingEventName, type BatchlingEvents, publish } from './events.ts';
import type { Notice } from './notices.ts';
import type { EngineScope, PendingRequest } from './request.ts';

/** A request in a batch. Nobody waits for it here when `pending` is missing. */
export interface BatchMember {
  readonly request: RequestId;
  readonly attempt: number;
  pending: PendingRequest | undefined;
  settled: boolean;
}

/**
 * Not found, found without a line that could be read, some of it empty, the key refused, or any other
 * error.
 */
export type LostReason = 'missing' | 'unreadable' | 'empty' | 'denied' | 'error';

/** A batch this process works on. */
export class ActiveBatch {
  readonly token: string;
  readonly queue: Queue;
  readonly lease: Lease;
  /** In the order of the lines. */
  readonly members = new Map<ItemId, BatchMember>();
  /** The scopes whose callers wait for this batch. */
  readonly scopes = new Set<EngineScope>();
  handle: Handle = {};
  remote: Remote | undefined;
  cursor: string | undefined;
  acceptedAt = 0;
  /** Its place among the batches of its account and model. */
  place: Place | undefined;
  /** Whether anyone still wants it is about to be looked at. */
  isLookedAt = false;
  /** Ends its waiting before it is created: nobody has time left for it, or the engine goes down. */
  readonly ending = new AbortController();
  /** It has ended, and its results are being read. */
  collecting = false;
  /** Cancelled by its scope, whether the provider had it already or not. */
  cancelRequested = false;
  /** Its create is on its way, or went out in an earlier run: the provider may have it. */
  mayBeThere = false;
  /** Resolves when it is known what became of its create: it has a `remote`, or never will. */
  readonly outcome: Promise<void>;
  outcomeIsKnown: () => void = () => undefined;
  /** The last try to cancel it, and all that was tried again. */
  cancellation: Promise<unknown> | undefined;
  /** Its create went out, and nobody knows yet whether it was accepted. */
  unclear = false;
  /** Cancelled at the provider, or about to be: nobody wants it, or has time left for it. */
  cancelling = false;
  /** Some of its answers could not be stored. */
  unwritten = false;
  /** Taken over from a run that used another credential. */
  underOtherKey = false;
  /** Since when it cannot be read, by what was said instead; a good answer ends them all. */
  readonly lostSince = new Map<LostReason, number>();
  /** Since when it has ended without all of its results. */
  incompleteSince: number | undefined;
  /** Results that are being read before it has ended. */
  reading: Promise<void> | undefined;
  /** Once it has ended: resolves when it is collected, or when reading it has failed once. */
  collected: Promise<void> | undefined;
  isCollected: () => void = () => undefined;
  /** A line of a request of ours was read. */
  matched = false;
  /** Outcomes that may go better next time, unless another line holds an answer. */
  readonly retries = new Map<ItemId, Outcome>();
  /** Answers read so far: good ones, and errors. */
  answered = 0;
  failed = 0;
  /** What everyone gets who asks for a request of a batch that was given up. */
  stuck: Answer | undefined;
  /** Sent again after its first create was nowhere to be found: a twin may turn up. */
  resent = false;
  lookingForTwins = false;
  /** Those that have turned up. */
  readonly twins = new Set<string>();

  #holdsSlot = false;

  constructor(token: string, queue: Queue, lease: Lease) {
    this.token = token;
    this.queue = queue;
    this.lease = lease;
    this.outcome = new Promise((resolve) => {
      this.outcomeIsKnown = resolve;
    });
  }

  get batcher(): Batcher {
    return this.queue.batcher;
  }

  get wire(): Wire {
    return this.queue.wire;
  }

  /** Puts a waiting caller on a line of this batch. */
  attach(pending: PendingRequest): void {
    this.seat(pending, pending.id);
    pending.batch = this;
  }

  /** Gives a caller its line, who does not look to this batch yet. */
  seat(pending: PendingRequest, id: ItemId): void {
    this.scopes.add(pending.scope);
    const member = this.members.get(id);
    if (member) {
      pending.attempt = member.attempt;
      // A client that came back; whom it left may be waiting all the same.
      if (member.pending !== pending) pending.also = member.pending;
      member.pending = pending;
      return;
    }
    const { request, attempt } = pending;
    this.members.set(id, { request, attempt, pending, settled: false });
  }

  /** The callers who still wait for a line of it. */
  waiting(): PendingRequest[] {
    const waiting: PendingRequest[] = [];
    for (const { pending, settled } of this.members.values()) {
      if (pending === undefined || settled) continue;
      if (pending.also) waiting.push(...pending.waiters());
      else if (!pending.settled) waiting.push(pending);
    }
    return waiting;
  }

  /** Whether anyone (like this) still waits. Asked at every poll, and nearly always by the first. */
  isWaitedFor(isMeant: (pending: PendingRequest) => boolean = () => true): boolean {
    for (const { pending, settled } of this.members.values()) {
      if (settled) continue;
      for (let one = pending; one; one = one.also) if (!one.settled && isMeant(one)) return true;
    }
    return false;
  }

  /** Counts among the batches its account may have under way, as soon as there is room. */
  async takeSlot(): Promise<void> {
    if (this.#holdsSlot) return;
    const limit = () => this.queue.mostInFlight(this.scopes);
    await this.queue.account.slots.acquire(limit, this.ending.signal, this.queue);
    this.#holdsSlot = true;
  }

  /** It is under way already, whether there is room or not. */
  holdSlot(): void {
    if (!this.#holdsSlot) this.queue.account.slots.occupy();
    this.#holdsSlot = true;
  }

  freeSlot(): void {
    if (this.#holdsSlot) this.queue.account.slots.release();
    this.#holdsSlot = false;
  }

  /** No longer under way: others may take its slot and its place. */
  makeRoom(): void {
    this.freeSlot();
    this.place?.leave();
  }

  facts() {
    return {
      provider: this.batcher.info.name,
      endpoint: this.queue.endpoint,
      model: this.queue.model,
      batch: this.token,
      count: this.members.size,
      ...(this.remote && { remoteId: this.remote.id }),
    };
  }

  /** For people: every scope that waits for this batch is told, with the same object. */
  notify(notice: Notice): void {
    for (const scope of this.scopes) scope.notify(notice);
  }

  /** Tells the world once, and every scope that waits for this batch. */
  emit<Name extends BatchlingEventName>(name: Name, payload: BatchlingEvents[Name]): void {
    publish(name, payload);
    for (const scope of this.scopes) scope.emit(name, payload);
  }
}
