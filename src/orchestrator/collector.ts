import type { Outcome, Remote, RetryReason, Row } from '../batchers/batcher.ts';
import { LeaseLostError } from '../errors.ts';
import { backoff, sleep } from '../http/backoff.ts';
import type { Settlement } from '../ledger/ledger.ts';
import type { Answer } from '../types.ts';
import type { ActiveBatch, BatchMember } from './active-batch.ts';
import { ownAnswer } from './answers.ts';
import { deadlineMessage, goRealtime } from './deadlines.ts';
import { deliver } from './delivery.ts';
import { publish } from './events.ts';
import type { PendingRequest } from './pending.ts';
import type { Workshop } from './workshop.ts';

/** At most so many rows in one ledger transaction. */
const storeAtOnce = 500;

interface Round {
  answered: number;
  failed: number;
  /** Lines of no request of ours, or that could not be read. */
  strange: number;
  /** Lines of requests of ours. */
  matched: number;
  readonly retries: PendingRequest[];
}

/**
 * Reads every result source of a batch, matches by id, stores, and only then answers. A caller has
 * its answer as soon as its line is stored; what may go better next time goes back to its queue.
 */
export class Collector {
  readonly #workshop: Workshop;

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
  }

  /** Everything of an ended batch. Resolves when each member has its outcome. */
  async collect(batch: ActiveBatch, remote: Remote): Promise<void> {
    const { clock, stopped, ledger, report } = this.#workshop;
    const round: Round = { answered: 0, failed: 0, strange: 0, matched: 0, retries: [] };
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#read(batch, remote, round);
        if (attempt <= rereads && isUnreadable(remote, round)) throw new Error(unreadable);
        await this.#settleMissing(batch, remote, round);
        if (!batch.unwritten) await this.#write(batch, () => ledger.ended(batch.lease));
        break;
      } catch (error) {
        if (error instanceof LeaseLostError || stopped.aborted) throw error;
        report(`collect batch ${batch.token}`, error);
        await sleep(clock, backoff({ attempt, base: 300 }), stopped);
      }
    }
    if (round.strange > 0) {
      this.#workshop.logger.warn(`${round.strange} lines of batch ${batch.token} were not ours`);
    }
    batch.queue.refusals = 0;
    const { answered, failed } = round;
    batch.emit('batch:collected', { ...batch.facts(), answered, failed });
    // Together at the end, so that they share a batch again.
    for (const pending of round.retries) pending.queue.add(pending);
  }

  async #read(batch: ActiveBatch, remote: Remote, round: Round): Promise<void> {
    if (!remote.readable) return;
    let rows: Row[] = [];
    for await (const group of batch.batcher.results(batch.wire, remote, batch.cursor)) {
      for (const row of group) {
        rows.push(row);
        if (rows.length < storeAtOnce) continue;
        await this.#store(batch, rows, round);
        rows = [];
      }
    }
    await this.#store(batch, rows, round);
  }

  async #store(batch: ActiveBatch, rows: readonly Row[], round: Round): Promise<void> {
    const settlements: Settlement[] = [];
    const decisions = new Map<BatchMember, Decided>();
    let cursor: string | undefined;
    for (const row of rows) {
      if ('cursor' in row) {
        cursor = row.cursor;
        continue;
      }
      const member = 'id' in row ? batch.members.get(row.id) : undefined;
      if (member === undefined) round.strange += 1;
      else round.matched += 1;
      if (!('id' in row) || member === undefined || member.settled || decisions.has(member)) {
        continue;
      }
      const decided = decide(batch, member, row.outcome);
      settlements.push(decided.settlement);
      decisions.set(member, decided);
    }
    if (settlements.length > 0 || cursor !== undefined) {
      await this.#write(batch, () =>
        this.#workshop.ledger.collected(batch.lease, settlements, cursor),
      );
    }
    if (cursor !== undefined) batch.cursor = cursor;
    for (const [member, decided] of decisions) this.#finish(batch, member, decided, round);
  }

  /**
   * A full disk must not keep a paid answer from its caller. What was not written stays open in the
   * ledger, so the next run reads it at the provider again.
   */
  async #write(batch: ActiveBatch, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      batch.unwritten = true;
      this.#workshop.report(`store answers of batch ${batch.token}`, error);
    }
  }

  /** Lines that came in no source: they never ran. */
  async #settleMissing(batch: ActiveBatch, remote: Remote, round: Round): Promise<void> {
    const rows: Row[] = [];
    for (const [id, member] of batch.members) {
      if (member.settled) continue;
      const message = 'The provider returned no usable line for this request.';
      const last = ownAnswer(batch.batcher, 'missing', message);
      rows.push({ id, outcome: { kind: 'retry', reason: remote.unfinished ?? 'never-ran', last } });
    }
    for (let at = 0; at < rows.length; at += storeAtOnce) {
      await this.#store(batch, rows.slice(at, at + storeAtOnce), round);
    }
  }

  #finish(batch: ActiveBatch, member: BatchMember, decided: Decided, round: Round): void {
    member.settled = true;
    const { pending } = member;
    // Nothing is asked of it here any more, and the batch lives on until its last line is stored.
    member.pending = undefined;
    if (pending?.settled) pending.queue.spool.letGo(pending);
    if (decided.answer) {
      if (decided.answer.status < 400) round.answered += 1;
      else round.failed += 1;
      if (pending) deliver(pending, decided.answer, 'batch', batch.token);
      return;
    }
    if (pending === undefined || pending.settled) return;
    if (decided.realtime) {
      goRealtime(pending);
      return;
    }
    pending.batch = undefined;
    pending.attempt += 1;
    const event = {
      provider: batch.batcher.info.name,
      endpoint: batch.queue.endpoint,
      model: batch.queue.model,
      attempt: pending.attempt + 1,
      reason: decided.reason as string,
    };
    publish('request:retried', event);
    pending.scope.emit('request:retried', event);
    round.retries.push(pending);
  }
}

/** Results in which nothing is ours, although the provider ran something: read them again first. */
const rereads = 3;
const unreadable = 'The results hold no line that could be read.';

function isUnreadable({ readable, counts }: Remote, { matched, strange }: Round): boolean {
  if (!readable || matched > 0) return false;
  return strange > 0 || (counts !== undefined && counts.completed > 0);
}

interface Decided {
  readonly settlement: Settlement;
  readonly answer?: Answer;
  readonly reason?: RetryReason;
  readonly realtime?: true;
}

function decide(batch: ActiveBatch, member: BatchMember, outcome: Outcome): Decided {
  const { request, pending } = member;
  if (outcome.kind === 'answer') {
    const { answer } = outcome;
    return { settlement: { request, is: 'answer', answer }, answer };
  }
  const { reason } = outcome;
  if (pending === undefined || pending.settled) {
    return { settlement: { request, is: 'release' } };
  }
  if (reason === 'cancelled' && pending.due) return atDeadline(batch, member, pending);
  // What ran out of time once is tried once more; a cancelled request was meant to end.
  const attempts =
    reason === 'cancelled' ? 1 : reason === 'expired' ? 2 : pending.scope.policy.attempts;
  if (pending.attempt + 1 < attempts) {
    return { settlement: { request, is: 'retry' }, reason };
  }
  const answer = finalAnswer(batch, reason, outcome.last);
  return { settlement: { request, is: 'answer', answer }, answer };
}

/** The batch was cancelled because of it, and this request had not run. */
function atDeadline(batch: ActiveBatch, member: BatchMember, pending: PendingRequest): Decided {
  const { request } = member;
  if (pending.scope.onDeadline === 'realtime') {
    return { settlement: { request, is: 'release' }, realtime: true };
  }
  const answer = ownAnswer(batch.batcher, 'deadline', deadlineMessage);
  return { settlement: { request, is: 'answer', answer }, answer };
}

function finalAnswer(batch: ActiveBatch, reason: RetryReason, last: Answer): Answer {
  const { batcher } = batch;
  if (reason === 'expired') {
    const message = 'The provider did not get to this request within the completion window.';
    return ownAnswer(batcher, 'expired', message);
  }
  if (reason === 'cancelled') {
    return ownAnswer(batcher, 'cancelled', 'The batch of this request was cancelled.');
  }
  if (reason === 'never-ran') {
    const message = `The provider never ran this request, in any attempt (batch ${batch.token}).`;
    return ownAnswer(batcher, 'missing', message);
  }
  return last;
}
