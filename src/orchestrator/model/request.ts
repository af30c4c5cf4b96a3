import type { Answer, ItemId } from '../../base/types.ts';
import type { Batcher, Expectation } from '../../batchers/batcher.ts';
import type { Admission, Cost, OwnerId, RequestId } from '../../ledger/ledger.ts';
import { estimateInput } from '../../pricing/token-estimate.ts';
import type { Batch } from './batch.ts';
import type { EngineScope } from './call.ts';
import type { Caller } from './caller.ts';
import type { RequestQueue } from './request-queue.ts';
import { moveStage, type RequestStage } from './request-stage.ts';

/** How often, and since when, a provider had no room for a request that was alone. */
interface NoRoom {
  readonly since: number;
  refusals: number;
  /** Refusals, with time between them, although it was larger than a limit the provider had named. */
  aboveLimit: number;
  countedAt: number;
}

export function newNoRoom(now: number): NoRoom {
  return { since: now, refusals: 0, aboveLimit: 0, countedAt: Number.NEGATIVE_INFINITY };
}

/**
 * One row of the ledger and one line of a batch, and the callers that wait for it. A hundred thousand of
 * them may wait: what their queue knows is kept there, and what can be derived is.
 */
export class Request {
  readonly queue: RequestQueue;
  /** The fingerprint, a character per byte. */
  readonly key: string;
  /** `undefined` while it is spooled in the ledger, and when it is no longer needed. */
  body: string | undefined;
  occurrence = 0;
  row: RequestId = 0;
  /** The owner that asked the ledger for it. */
  owner: OwnerId = 0;
  /** Size of the encoded item. */
  bytes = 0;
  /** Estimated tokens of its input. */
  tokens = 0;
  expects: Expectation;
  attempt = 0;
  readonly callers: Caller[];
  /** Its time is up, and it goes out as an ordinary call all the same. */
  isLate = false;
  /** Its body counts against the memory budget. */
  isHeld = false;
  /** The provider ran out of time for it once. */
  hasExpired = false;
  noRoom: NoRoom | undefined = undefined;
  #id: ItemId | undefined = undefined;
  #stage: RequestStage = 'asked';
  #batch: Batch | undefined = undefined;

  constructor(
    queue: RequestQueue,
    key: string,
    body: string,
    expects: Expectation,
    caller: Caller,
  ) {
    this.queue = queue;
    this.key = key;
    this.body = body;
    this.expects = expects;
    this.callers = [caller];
    caller.request = this;
  }

  get stage(): RequestStage {
    return this.#stage;
  }

  /** The batch that it is planned into. */
  get batch(): Batch | undefined {
    return this.#batch;
  }

  get batcher(): Batcher {
    return this.queue.batcher;
  }

  get fingerprint(): Buffer {
    return Buffer.from(this.key, 'latin1');
  }

  /** The id may be asked for once the occurrence is known. It is made for its batch, and needed once more for its line. */
  get id(): ItemId {
    this.#id ??= itemId(this.fingerprint, this.occurrence);
    return this.#id;
  }

  /** What its provider counts inside of it. */
  get units(): number {
    return this.queue.units.get(this) ?? 1;
  }

  /** It is in a batch or on the wire, or too far on its way there to be taken out. */
  get isCommitted(): boolean {
    return this.stage === 'planning' || this.stage === 'planned' || this.stage === 'sending';
  }

  /** It is ours to send or to forget, in no batch and not on the wire. */
  get isUnsent(): boolean {
    return this.stage === 'queued' || this.stage === 'flushed';
  }

  get waiting(): Caller[] {
    return this.callers.filter(isWaiting);
  }

  get isWaitedFor(): boolean {
    return this.callers.some(isWaiting);
  }

  /** A caller waits for it whose time is not up. */
  get isWanted(): boolean {
    return this.callers.some(hasTime);
  }

  /** Wanted, and not late: a late one goes out as an ordinary call, and may still wait for its turn there. */
  get isWantedInTime(): boolean {
    return this.isWanted && !this.isLate;
  }

  /** The scope of its first caller that waits, or that waited. */
  get scope(): EngineScope {
    const caller = this.callers.find(isWaiting) ?? this.callers[0];
    return (caller as Caller).scope;
  }

  /** A client came back for it. */
  join(caller: Caller): void {
    this.callers.push(caller);
    caller.request = this;
  }

  /** A caller has its verdict, or has gone. False: it had been settled before. */
  settle(caller: Caller): boolean {
    if (caller.isSettled) return false;
    caller.isSettled = true;
    const { bodies, clientRetries } = this.queue;
    bodies.letGo(this);
    clientRetries.ended(caller, this);
    return true;
  }

  /** The ledger's decision names it: its row, its occurrence and with them its size. */
  admitted({ request: row, occurrence }: Admission, owner: OwnerId): void {
    this.owner = owner;
    this.row = row;
    this.occurrence = occurrence;
    const body = this.body as string;
    const bytes = Buffer.byteLength(body);
    this.bytes = this.queue.itemBytes(bytes, occurrence);
    const { tokens, audioTokens: inputAudioTokens } = estimateInput(body, bytes);
    this.tokens = tokens;
    if (inputAudioTokens > 0) this.expects = { ...this.expects, inputAudioTokens };
  }

  /** Another owner, or another request of this process, stands for it. */
  goElsewhere(): void {
    this.#moveTo('elsewhere');
  }

  /** The ledger says that it is ours to send. */
  becomeOurs(attempt: number): void {
    this.attempt = attempt;
    this.#moveTo('flushed');
  }

  enterQueue(): void {
    this.#moveTo('queued');
  }

  leaveQueue(): void {
    this.#moveTo('flushed');
  }

  beginPlan(): void {
    this.#moveTo('planning');
  }

  /** The plan could not be written. */
  leavePlan(): void {
    this.#moveTo('flushed');
  }

  enterBatch(batch: Batch): void {
    this.#batch = batch;
    this.#moveTo('planned');
  }

  /** Its batch will bring no answer. */
  leaveBatch(): void {
    this.#batch = undefined;
    this.#moveTo('flushed');
  }

  /** The time of its callers is up, and they want an ordinary call now. */
  goLate(): void {
    this.isLate = true;
    for (const caller of this.callers) caller.isDue = false;
    if (this.#stage === 'queued') this.leaveQueue();
  }

  /** It goes out as an ordinary call. */
  beginSend(): void {
    this.#moveTo('sending');
  }

  /** It was not accepted as an ordinary call, or is to be sent once more. A refused tier says nothing about its kind. */
  leaveWire(because?: 'its tier'): void {
    this.#moveTo('flushed');
    if (because === undefined) this.queue.gate?.setBack(this);
  }

  /** Another request stands for both from here on, and keeps a body if it may still need one. */
  mergeInto(other: Request): void {
    for (const caller of this.callers.splice(0)) other.join(caller);
    this.queue.bodies.handOver(this, other);
    this.end();
  }

  /** It has its answer, or is forgotten without one. */
  end(answer?: Answer, cost?: Cost): void {
    this.#batch = undefined;
    this.#moveTo('done');
    this.queue.gate?.ended(this, answer, cost);
  }

  /** Every move may be the one after which nobody needs the body any more. */
  #moveTo(stage: RequestStage): void {
    this.#stage = moveStage(this.row, this.#stage, stage);
    this.queue.bodies.letGo(this);
  }
}

function isWaiting({ isSettled }: Caller): boolean {
  return !isSettled;
}

function hasTime({ isSettled, isDue }: Caller): boolean {
  return !isSettled && !isDue;
}

/** 43 characters of fingerprint and the occurrence: legal in every provider's id, at most 64 long. */
export function itemId(fingerprint: Uint8Array, occurrence: number): ItemId {
  const bytes = Buffer.isBuffer(fingerprint) ? fingerprint : Buffer.from(fingerprint);
  return `${bytes.toString('base64url')}-${occurrence}`;
}
