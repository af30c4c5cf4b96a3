import type { Handle, ItemId } from '../../base/types.ts';
import type { Batcher, Remote } from '../../batchers/batcher.ts';
import type { Wire } from '../../http/wire.ts';
import type { Lease, RequestId } from '../../ledger/ledger.ts';
import {
  type BatchFacts,
  type EmittedEvents,
  type EmittedName,
  publish,
} from '../events/events.ts';
import { type BatchPhase, movePhase } from './batch-phase.ts';
import type { EngineScope } from './call.ts';
import type { Caller } from './caller.ts';
import { Cancellation } from './cancellation.ts';
import type { Request } from './request.ts';
import type { RequestQueue } from './request-queue.ts';

/** A line of a batch. Nobody waits for it here when `request` is missing. */
export interface BatchMember {
  readonly row: RequestId;
  readonly attempt: number;
  request: Request | undefined;
  isSettled: boolean;
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

  /** Resolves when what can be read of it now is read, or has failed to be once. */
  get reading(): Promise<unknown> | undefined {
    return this.#reading;
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

  /** A caller waits for it whose time is not up. */
  get isWanted(): boolean {
    return this.isWaitedFor(({ isDue }) => !isDue);
  }

  facts(): BatchFacts {
    const { remote } = this;
    return {
      provider: this.batcher.info.name,
      endpoint: this.queue.endpoint,
      model: this.queue.model,
      batch: this.token,
      count: this.members.size,
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
