import type { Answer, Handle } from '../base/types.ts';
import type { CostQuery, CostRow, OrdinaryCosts } from './daily-costs.ts';
import type { Outbox, OutboxMessage } from './outbox.ts';
import type {
  AccountId,
  AccountKey,
  Admission,
  Ask,
  BatchId,
  BatchSummary,
  BatchTime,
  ClaimedBatch,
  LearntLimit,
  Lease,
  Look,
  Member,
  MemberPage,
  NewBatch,
  OpenBatch,
  OwnerId,
  OwnerInfo,
  PruneQuery,
  PruneReport,
  QueueId,
  QueueKey,
  RemoteMark,
  RequestId,
  Settlement,
  Wait,
} from './records.ts';
import type { LedgerView } from './view.ts';

export type * from './daily-costs.ts';
export type * from './outbox.ts';
export type * from './records.ts';

/**
 * The durable memory of requests, answers and batches. All methods are async and take arrays, so that
 * a database server can implement them. A ledger may cut a long array into several transactions; what
 * is promised about a crash in between stands at the method.
 *
 * **Time is the ledger's time.** Its clock, which may be a server's, writes and compares all moments.
 * For a decision a moment leaves the ledger as an age in milliseconds; nothing above compares its own
 * clock with a moment that a ledger wrote.
 *
 * **An owner can be lost.** A ledger counts an owner as gone when it left, when its process died, or
 * when the ledger has not heard of it for too long. `admit`, `withdraw`, `plan`, `settled` and `claim`
 * throw `OwnerLostError` for an owner that is gone or that the ledger does not know. The caller then
 * joins again and asks again under its new id: requests that it had not planned yet are `mine` unless
 * another owner has them by now, and its batches are there to be claimed. Leases of the lost owner are
 * stale: writes under them throw `LeaseLostError`.
 *
 * **Durable** means: what is written survives a power cut once the promise has resolved, together with
 * everything that was written before it. Only `creating` and `accepted` promise it. Everything else
 * survives the death of the process as soon as its promise has resolved, and a power cut soon after.
 *
 * Left out on purpose: HTTP, price lists, timers, credentials, and transactions that a caller could hold.
 */
export interface Ledger {
  /** Random bytes of this ledger that key the account hashes. */
  readonly salt: Uint8Array;
  /**
   * Owners live by a lease of so many milliseconds: one that has ended counts as here until its lease is over.
   * Missing where it is known whether the process of an owner lives.
   */
  readonly ownerLease?: number;

  /** What receivers of webhooks are to be told. */
  readonly outbox: Outbox;

  /** Registers an owner. It lives until `leave` or `close`, or until it is lost. */
  join(owner: OwnerInfo): Promise<OwnerId>;
  /** What is in the way of an owner from now on, for people; an empty list: nothing. Of an owner that is gone it is not shown. */
  troubled(owner: OwnerId, troubles: readonly string[]): Promise<void>;
  account(key: AccountKey): Promise<AccountId>;
  queue(key: QueueKey): Promise<QueueId>;

  /** `quota`: the name of the token quota, such as a model at a base, or of what else was learnt of the account. */
  limit(account: AccountId, quota: string): Promise<LearntLimit | undefined>;
  /** The newest limit replaces the one before. */
  learn(
    account: AccountId,
    quota: string,
    limit: Pick<LearntLimit, 'tokens' | 'named'>,
  ): Promise<void>;

  /** Decides for each ask; see `Admission`. The order of the result is that of the asks. */
  admit(owner: OwnerId, asks: readonly Ask[]): Promise<Admission[]>;
  /** Forgets requests that this owner has admitted and not planned yet; others are left alone. */
  withdraw(owner: OwnerId, requests: readonly RequestId[]): Promise<void>;
  /**
   * Marks requests that this owner has admitted and not planned: they go out as ordinary calls (`true`), or were not
   * accepted as such (`false`). An owner that is gone may have paid for the ones with a mark: `Admission.sent`.
   */
  markSent(owner: OwnerId, requests: readonly RequestId[], sent: boolean): Promise<void>;
  /** Keeps bodies of admitted requests outside of memory. Erased when the request is final. */
  spool(bodies: readonly { request: RequestId; body: string }[]): Promise<void>;
  bodies(requests: readonly RequestId[]): Promise<Map<RequestId, string>>;

  /**
   * The requests become members of a new batch, in this order: all of them, or none. Throws
   * `OverBudgetError` where what the batches of the run have cost, what those under way are estimated at
   * and this estimate are more than the budget together: processes of one run cannot pass it together. A
   * batch that its owner has left before it was created costs nothing.
   */
  plan(owner: OwnerId, batch: NewBatch, requests: readonly RequestId[]): Promise<Lease>;
  staged(lease: Lease, handle: Handle): Promise<void>;
  /**
   * Durable before it resolves: from then on the provider may have the batch.
   * `alone`: false is returned, and nothing is written, while another batch of the same account at
   * the same base is being created.
   */
  creating(lease: Lease, handle: Handle, options: { alone: boolean }): Promise<boolean>;
  /** Durable before it resolves. */
  accepted(lease: Lease, remote: RemoteMark): Promise<void>;
  /** The provider refused the batch. Its members are admitted again, with no attempt used. */
  refused(lease: Lease, failure: string): Promise<void>;
  /** A batch that was never sent is given up. Its members are admitted again. */
  released(lease: Lease): Promise<void>;
  /** A lost lease among them is reported after the other updates are stored. */
  polled(updates: readonly { lease: Lease; remote: RemoteMark }[]): Promise<void>;
  /**
   * Outcomes of members and how far the results are read. The cursor is written with the last outcome
   * or after it: after a crash results may be read twice, but none is skipped. The costs of answers are
   * added to the batch, and to the totals of the day, in the same transaction as the answers. A cost is added
   * even if an earlier outcome of its request wins, so each member is settled once.
   */
  collected(lease: Lease, settlements: readonly Settlement[], cursor?: string): Promise<void>;
  /** `messages` get into the outbox with the end that they tell of, or neither is stored. */
  ended(lease: Lease, failure?: string, messages?: readonly OutboxMessage[]): Promise<void>;
  /**
   * Outcomes of requests that are in no batch. The first one of two outcomes of a request counts. `spent` is added to
   * the totals of the day in the transaction of the last outcome, whether a request of the ledger stands behind it or not.
   */
  settled(
    owner: OwnerId,
    settlements: readonly Settlement[],
    spent?: readonly OrdinaryCosts[],
  ): Promise<void>;
  /**
   * Adds dollars, which may be less than 0, to what the run of this owner has cost outside of batches.
   * With a budget that has no room for them it throws `OverBudgetError`, and nothing is added. `purse`: as of
   * a new batch.
   */
  spend(owner: OwnerId, dollars: number, budget?: number, purse?: string): Promise<void>;

  /** The final answers of these requests, errors included, as far as there are any. */
  answers(requests: readonly RequestId[]): Promise<Map<RequestId, Answer>>;
  /** The members that a batch has now, in their order, as `claim` would tell of them. */
  lines(batch: BatchId): Promise<Member[]>;
  /**
   * Takes this batch over if its owner is gone or has given it back; `undefined` if it belongs to an
   * owner that is here, or has ended.
   */
  claim(owner: OwnerId, batch: BatchId): Promise<ClaimedBatch | undefined>;
  /** This owner no longer works on the batch: any owner may claim it, the same one, too. */
  giveBack(lease: Lease): Promise<void>;
  /** Unfinished batches that can be claimed, of one account or of all. */
  claimable(account?: AccountId): Promise<BatchId[]>;

  /** A number that differs when another process may have written since the last time. Cheap. */
  changed(): Promise<number>;

  /**
   * The requests, among those that are waited for, about which `admit` has something new to say. It may name too
   * many of them. Writes nothing.
   */
  toAskAgain(waits: readonly Wait[]): Promise<RequestId[]>;

  /** Tells what `admit` would say to a new owner of this run. Writes nothing. */
  look(run: string, asks: readonly (Ask & { occurrence: number })[]): Promise<Look[]>;
  /** Output tokens per answer in past batches of the same kind; `undefined`: there are none. */
  averageOutput(
    queue: Pick<QueueKey, 'provider' | 'endpoint' | 'model'>,
  ): Promise<number | undefined>;
  /**
   * The newest batches, of one model or of all, that are under way or ended with nearly all of their answers;
   * the newest first. Their number is bounded, and nothing else of the ledger is read.
   */
  batchTimes(of?: Pick<QueueKey, 'provider' | 'model'>): Promise<BatchTime[]>;
  /** What was paid and saved, from the totals of the days. Nothing that drops answers or batches changes them. */
  costs(query: CostQuery): Promise<CostRow[]>;
  list(query?: { open?: boolean; limit?: number }): Promise<BatchSummary[]>;
  /** By local token or by the provider's id. */
  show(id: string): Promise<BatchSummary | undefined>;
  /**
   * The members that a batch has now, in their order, from `from` on and at most `limit` of them. A
   * member that was admitted again or forgotten is no member any more.
   */
  members(token: string, page: { from?: number; limit: number }): Promise<MemberPage>;
  /** All unfinished batches, the oldest first. */
  unfinished(): Promise<OpenBatch[]>;
  /** What only people ask: the reads of the page. */
  readonly view: LedgerView;
  /**
   * Drops nothing of an owner that is here, and no member of an open batch. With an age, accounts and queues
   * that nothing refers to and that no owner that is here has opened are dropped, too.
   */
  prune(query: PruneQuery): Promise<PruneReport>;
  /**
   * The owner is done: others may claim what it left unfinished. Leaving twice is a no-op.
   * `finished: false`: its run is to be continued, so that from now on it counts as if it had been killed.
   */
  leave(owner: OwnerId, options?: { readonly finished: boolean }): Promise<void>;
  close(): Promise<void>;
}
