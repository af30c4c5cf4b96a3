import type { Answer, Handle, ItemId } from '../../base/types.ts';
import type { Batcher, Remote } from '../../batchers/batcher.ts';
import type { Wire } from '../../http/wire.ts';
import type { Lease, Member, RequestId } from '../../ledger/ledger.ts';
import {
  type BatchFacts,
  type BatchHistory,
  type EmittedEvents,
  type EmittedName,
  publish,
} from '../events/events.ts';
import { type BatchPhase, movePhase } from './batch-phase.ts';
import type { EngineScope } from './call.ts';
import type { Caller } from './caller.ts';
import { Cancellation } from './cancellation.ts';
import { itemId, type Request } from './request.ts';
import type { RequestQueue } from './request-queue.ts';

/** A line of a batch. Nobody waits for it here when `request` is missing. */
export interface BatchMember {
  readonly row: RequestId;
  readonly attempt: number;
  request: Request | undefined;
  isSettled: boolean;
}

/** A line as a batch needs it before it is sent. */
export interface BatchLine {
  readonly id: ItemId;
  readonly row: RequestId;
}

/** What an earlier run or this one knows of a batch when it begins to live here. */
export interface BatchOrigin {
  readonly handle: Handle;
  /** Another credential has sent it. */
  readonly isUnderOtherKey: boolean;
  /** How far its results were read. */
  readonly cursor: string | undefined;
}

/** A batch that this process works on. Its `phase` says where it is in its life. */
export class Batch {
  readonly token: string;
  readonly queue: RequestQueue;
  readonly lease: Lease;
  readonly origin: BatchOrigin;
  /** Its lines, in their order. */
  readonly members = new Map<ItemId, BatchMember>();
  /** The scopes whose callers wait for this batch. */
  readonly scopes = new Set<EngineScope>();
  readonly cancellation = new Cancellation();
  /** Ends its waiting before it is created: nobody has time left for it, or the engine goes down. */
  readonly ending = new AbortController();
  /** It is known what became of its create. */
  readonly #created = new Moment();
  /** The provider was asked how far it is, with or without success. A batch of this run counts as asked for. */
  readonly polled = new Moment();
  readonly #over = new Moment();
  #handle: Handle;
  #phase: BatchPhase = { name: 'planned' };
  /** Creates of it that went out and were nowhere to be found: twins may turn up. */
  #lostCreates = 0;
  /** The traces that its requests were asked in. */
  traces: readonly string[] | undefined;
  /** How many lines it has, where its callers have left them to the ledger. */
  #leftLines: number | undefined;
  /** Is told the answers of lines that nobody waits for, once they are in the ledger. */
  onAnswer: ((row: RequestId, answer: Answer) => void) | undefined = undefined;
  /** Lines without a caller that are to be sent again by whoever asks next. */
  linesToSendAgain = 0;
  #reading: Promise<unknown> | undefined;

  constructor(token: string, queue: RequestQueue, lease: Lease, origin?: BatchOrigin) {
    this.token = token;
    this.queue = queue;
    this.lease = lease;
    this.origin = origin ?? { handle: {}, isUnderOtherKey: false, cursor: undefined };
    this.#handle = this.origin.handle;
    if (origin === undefined) this.polled.pass();
  }

  get batcher(): Batcher {
    return this.queue.batcher;
  }

  get wire(): Wire {
    return this.queue.wire;
  }

  get phase(): BatchPhase {
    return this.#phase;
  }

  /** Resolves when it is known what became of its create. */
  get created(): Promise<void> {
    return this.#created.passed;
  }

  /** Resolves when it is over for this process. */
  get over(): Promise<void> {
    return this.#over.passed;
  }

  /** What the batcher must remember of it across a crash. */
  get handle(): Handle {
    return this.#handle;
  }

  get remote(): Remote | undefined {
    return 'remote' in this.#phase ? this.#phase.remote : undefined;
  }

  /** It may have been created twice. */
  get mayHaveTwins(): boolean {
    return this.#lostCreates > 0;
  }

  /** How many lines it has, in memory or in the ledger. */
  get count(): number {
    return this.#leftLines ?? this.members.size;
  }

  /** Its callers come back for their answers: a line that nobody waits for counts as wanted. */
  get isLeft(): boolean {
    return this.#leftLines !== undefined;
  }

  /** Its lines are in the ledger only, and have to be read from there. */
  get isWithoutLines(): boolean {
    return this.isLeft && this.members.size === 0;
  }

  /** Each of its lines has its final answer. */
  get isAnswered(): boolean {
    if (this.linesToSendAgain > 0 || this.members.size < this.count) return false;
    for (const { isSettled } of this.members.values()) if (!isSettled) return false;
    return true;
  }

  /** Callers have left it to the ledger. If nobody else waits, its lines cost a row each and no memory while it runs. */
  leaveLines(): void {
    this.#leftLines = this.count;
    if (!this.isWaitedFor()) this.members.clear();
  }

  /** Lines of a job, which nobody waits for: it comes back for their answers. */
  addLines(lines: readonly BatchLine[], scope: EngineScope): void {
    for (const { id, row } of lines) {
      this.members.set(id, { row, attempt: 0, request: undefined, isSettled: false });
    }
    this.#leftLines = lines.length;
    this.scopes.add(scope);
  }

  /** Resolves when what can be read of it now is read, or has failed to be once. */
  get reading(): Promise<unknown> | undefined {
    return this.#reading;
  }

  /** Its create is on its way, or nobody knows what became of that: the provider may have it. */
  get isUnclear(): boolean {
    const { name } = this.#phase;
    return name === 'creating' || name === 'looking';
  }

  /** The provider has it, and as far as is known there is nothing of it to be read yet. */
  get isUnderWay(): boolean {
    const { phase } = this;
    if (this.#reading) return false;
    if (phase.name === 'collecting') return phase.isUnreadable;
    // Before the first poll it is not known whether a batch of an earlier run has ended.
    return phase.name === 'running' && this.polled.hasPassed;
  }

  moveTo(phase: BatchPhase): void {
    this.#phase = movePhase(this.token, this.#phase, phase);
    if (phase.name === 'running' || phase.name === 'over') this.#created.pass();
    if (phase.name === 'over') this.#over.pass();
  }

  staged(handle: Handle): void {
    this.#handle = handle;
  }

  /** Its create was never accepted, so it is sent again. */
  createWasLost(reason: string): void {
    this.#lostCreates += 1;
    this.moveTo({ name: 'planned' });
    this.emit('batch:resent', { ...this.facts(), reason });
  }

  /** One reading at a time: the next one begins when this one is over. */
  readWith(reading: Promise<unknown>): void {
    this.#reading = reading;
    const over = () => {
      if (this.#reading === reading) this.#reading = undefined;
    };
    reading.then(over, over);
  }

  /** Makes a request that waits a line of this batch. */
  add(request: Request): void {
    const { id, row, attempt } = request;
    this.members.set(id, { row, attempt, request, isSettled: false });
    for (const { scope } of request.callers) this.scopes.add(scope);
  }

  /** Its lines as the ledger knows them. Nobody waits for them here yet. */
  setLines(lines: readonly Member[]): void {
    for (const { fingerprint, occurrence, request, attempt, settled } of lines) {
      const member = { row: request, attempt, request: undefined, isSettled: settled };
      this.members.set(itemId(fingerprint, occurrence), member);
    }
  }

  /** The callers of a request get the answer of its line, which may have callers of its own. */
  attach(request: Request, member: BatchMember): void {
    for (const { scope } of request.callers) this.scopes.add(scope);
    if (member.request && member.request !== request) {
      request.mergeInto(member.request);
      return;
    }
    member.request = request;
    request.attempt = member.attempt;
    request.enterBatch(this);
  }

  /** The callers that still wait for a line of it. */
  waiting(): Caller[] {
    const waiting: Caller[] = [];
    for (const { request, isSettled } of this.members.values()) {
      if (request && !isSettled) waiting.push(...request.waiting);
    }
    return waiting;
  }

  /** Whether a caller like this still waits. Asked at every poll, and nearly always the first does. */
  isWaitedFor(isMeant: (caller: Caller) => boolean = () => true): boolean {
    for (const { request, isSettled } of this.members.values()) {
      if (request === undefined || isSettled) continue;
      for (const caller of request.callers) {
        if (!caller.isSettled && isMeant(caller)) return true;
      }
    }
    return false;
  }

  /** A caller waits for it whose time is not up, or comes back for it. What is left of a batch that is moved is wanted another way. */
  get isWanted(): boolean {
    if (this.cancellation.isMove) return false;
    return this.isLeft || this.isWaitedFor(({ isDue }) => !isDue);
  }

  /** What the events of its end have beside the facts; `now`: by the clock of the engine. */
  history(now: number): BatchHistory {
    const { phase, traces } = this;
    return {
      ...('acceptedAt' in phase && { age: Math.max(0, now - phase.acceptedAt) }),
      ...(traces && { traces }),
    };
  }

  facts(): BatchFacts {
    const { remote } = this;
    return {
      provider: this.batcher.info.name,
      endpoint: this.queue.endpoint,
      model: this.queue.model,
      batch: this.token,
      count: this.count,
      ...(remote && { remoteId: remote.id }),
    };
  }

  /** Tells the world once, and every scope that waits for this batch, with the same object. */
  emit<Name extends EmittedName>(name: Name, payload: EmittedEvents[Name]): void {
    publish(name, payload);
    for (const scope of this.scopes) scope.emit(name, payload);
  }
}

/** Something that happens once and can be waited for. */
export class Moment {
  readonly passed: Promise<void>;
  readonly pass: () => void;
  hasPassed = false;

  constructor() {
    let resolvePassed: () => void = () => undefined;
    this.passed = new Promise((resolve) => {
      resolvePassed = resolve;
    });
    this.pass = () => {
      this.hasPassed = true;
      resolvePassed();
    };
  }
}
