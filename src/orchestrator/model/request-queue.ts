import type { Answer, Dict } from '../../base/types.ts';
import type { Batcher, CompletionWindow, Limits } from '../../batchers/batcher.ts';
import type { Semaphore } from '../../concurrency/semaphore.ts';
import type { Wire } from '../../http/wire.ts';
import type { AccountId, Cost, QueueId } from '../../ledger/ledger.ts';
import type { ModelPrice, Terms } from '../../pricing/model-price.ts';
import type { EngineScope, Lane, Policy, RealtimeRoute } from './call.ts';
import type { Caller } from './caller.ts';
import type { Request } from './request.ts';

/** An account that this process uses, at one base. Its credentials may rotate. */
export interface QueueAccount {
  readonly id: AccountId;
  /** Batches under way. */
  readonly slots: Semaphore;
  /** Ordinary calls under way. */
  readonly calls: Semaphore;
  /** Creates of providers that echo nothing go out one at a time. */
  readonly creates: Semaphore;
  /** Up to this time no create waits for a create of another process whose outcome is unclear. */
  unclearUntil: number;
  /** Calls are signed: what their clients have made is good for minutes only. */
  readonly isSigned: boolean;
  /** Why no batches can be sent there, once that is known. */
  unserved: string | undefined;
  /** A batch was accepted there: it does have a batch API, whatever it says later. */
  hasServed: boolean;
  wire(batcher: Batcher): Wire;
}

/** What a request and its batch know of the queue they belong to. */
export interface RequestQueue {
  readonly id: QueueId;
  readonly batcher: Batcher;
  readonly account: QueueAccount;
  readonly wire: Wire;
  /** The user has named its base: it may be a server that has no batch API. */
  readonly isConfigured: boolean;
  /** The user has named its base, and no batch was accepted there yet. */
  readonly mayBeUnserved: boolean;
  readonly endpoint: string;
  readonly model: string;
  readonly batchHeaders: Dict;
  readonly policy: Policy;
  /** The lane that its requests take now. */
  readonly lane: Lane;
  /** What to configure before its requests can be batched, for people. */
  readonly lacks: string | undefined;
  readonly limits: Limits;
  /** The most requests of one batch. */
  readonly batchSize: number;
  readonly completionWindow: CompletionWindow;
  readonly price: ModelPrice;
  /** The share of that price that its batches cost. */
  readonly terms: Terms;
  readonly bodies: BodyStore;
  readonly clientRetries: ClientRetryMemory;
  /** The requests that take more than one unit. They are kept here because a field would cost memory for every request. */
  readonly units: WeakMap<Request, number>;
  /** Sends some of its requests ahead of the others. `undefined`: all of them go together. */
  readonly gate: RequestGate | undefined;
  add(request: Request): void;
  /** Its model has no flex tier: from here on its requests wait for batches. */
  leaveFlex(): void;
  /** A batch has answered one of its requests. */
  answered(): void;
  remove(request: Request): void;
  /** The size of an item: its body, and what the format puts around a body with this occurrence. */
  itemBytes(bodyBytes: number, occurrence: number): number;
  /** The most careful scope decides how many batches the account may have under way. */
  mostInFlight(scopes: Iterable<EngineScope>): number;
  /** An upload or a download, not too many of one queue at once. */
  transfer<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Keeps the bodies of requests until they are sent. */
export interface BodyStore {
  /** The bodies of these requests, from wherever they are. */
  read(requests: readonly Request[]): Promise<string[]>;
  /** The request needs its body no more. */
  letGo(request: Request): void;
  /** One request stands for both from here on: with a body, if it is still to need one. */
  handOver(from: Request, to: Request): void;
}

/** Knows what clients that come back have asked before. */
export interface ClientRetryMemory {
  /** The caller was told an error. */
  failed(caller: Caller, request: Request, answer: Answer): void;
  /** The client of the caller may come back: asking again re-joins the request. */
  gaveUp(caller: Caller, request: Request): void;
  /** A client that gave up has read its answer after all. */
  read(caller: Caller): void;
  /** Nobody was told the answer: the next call that asks the same has it. */
  giveBack(caller: Caller, request: Request): void;
  /** The caller waits no longer: nothing will come for it but what has come. */
  ended(caller: Caller, request: Request): void;
  realtimeRoute(request: Request, scope: EngineScope): RealtimeRoute;
}

/** Holds requests back until one of them, which is sent alone, has its outcome. */
export interface RequestGate {
  /** Sends requests that were flushed on, at once or later. */
  pass(queue: RequestQueue, requests: readonly Request[]): void;
  /** A request that went out as an ordinary call was not answered: it waits for its next turn. */
  setBack(request: Request): void;
  /** Others wait for how it ends, so its callers must not leave it to the ledger. */
  isAhead(request: Request): boolean;
  /** Its callers come back for its answer: nobody hears how it ends. */
  left(request: Request): void;
  /** A request has its answer, or is forgotten without one. */
  ended(request: Request, answer: Answer | undefined, cost: Cost | undefined): void;
}
