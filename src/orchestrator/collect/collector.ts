import { setImmediate as immediate } from 'node:timers/promises';
import type { Remote, Row } from '../../batchers/batcher.ts';
import { LeaseLostError } from '../../errors.ts';
import { backoff, sleep } from '../../http/backoff.ts';
import type { Settlement } from '../../ledger/ledger.ts';
import { loadPrices } from '../../pricing/prices.ts';
import type { ItemId } from '../../types.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { inTurns } from '../model/in-turns.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { PendingRequest } from '../model/request.ts';
import { Slice } from '../model/slice.ts';
import { type LostBatches, UnreadableError } from '../watch/unreadable-batches.ts';
import { conclude, type Decision } from './conclude.ts';
import { decide } from './line-outcome.ts';

/**
 * At most so many rows, or so much text, go into one ledger transaction and are held in memory until
 * then. Fewer rows would cost more in transactions than they save in memory.
 */
const storeAtOnce = 1_000;
const charactersAtOnce = 2_000_000;

/** Of more than these, deciding, writing and waking the callers take a turn each. */
const answerAtOnce = 50;

/** One reading of the results. */
interface Round {
  /** Lines of no request of ours, or that could not be read. */
  strange: number;
  /** Sources that held no line, or none that could be read. */
  empty: boolean;
  garbled: boolean;
  /** Sources whose end may be a connection that broke. */
  unended: boolean;
  readonly retries: PendingRequest[];
}

/**
 * Reads every result source of a batch, matches by id, stores, and only then answers. A caller has
 * its answer as soon as its line is stored; what may go better next time goes back to its queue.
 */
export class Collector {
  readonly #workshop: Workshop;
  readonly #lost: LostBatches;

  constructor(workshop: Workshop, lost: LostBatches) {
    this.#workshop = workshop;
    this.#lost = lost;
  }

  /**
   * What there is of a batch that has not ended. Whatever goes wrong is read again with the rest.
   * `true`: each member has its answer already.
   */
  async collectEarly(batch: ActiveBatch, remote: Remote): Promise<boolean> {
    try {
      await this.#read(batch, remote, newRound());
    } catch (error) {
      this.#workshop.report(`read the first results of batch ${batch.token}`, error);
    }
    return !hasOpenMembers(batch);
  }

  /**
   * Everything of an ended batch. `true`: each member has its outcome, or has been given up.
   * `false`: the provider has not shown all of it yet.
   */
  async collect(batch: ActiveBatch, remote: Remote): Promise<boolean> {
    const { clock, stopped, logger, report, troubles } = this.#workshop;
    for (let attempt = 1; ; attempt += 1) {
      const round = newRound();
      try {
        await this.#read(batch, remote, round);
        troubles.passed(batch.wire, 'read');
        await immediate();
        const unread = unreadReason(batch, remote, round);
        if (unread) throw new UnreadableError(batch, unread);
        const wait = remote.incomplete && lacksLines(batch) && !this.#lost.isTooLate(batch);
        if (!wait) await this.#finish(batch, remote, round);
        requeue(round);
        if (round.strange > 0) {
          logger.warn(`${round.strange} lines of batch ${batch.token} were not ours`);
        }
        return !wait;
      } catch (error) {
        requeue(round);
        batch.isCollected();
        if (error instanceof LeaseLostError || stopped.aborted) throw error;
        report(`collect batch ${batch.token}`, error);
        troubles.met(batch, 'read', error);
        const verdict = this.#lost.unreadable(batch, error);
        if (verdict === 'stuck') return true;
        if (verdict === 'missing') {
          await this.#finish(batch, remote, round);
          requeue(round);
          return true;
        }
        await sleep(clock, backoff({ attempt, base: 300 }), stopped);
      }
    }
  }

  /** Nothing more will come. */
  async #finish(batch: ActiveBatch, remote: Remote, round: Round): Promise<void> {
    await immediate();
    await this.#settleTheRest(batch, remote, round);
    await immediate();
    const { ledger } = this.#workshop;
    if (!batch.unwritten) await this.#write(batch, () => ledger.ended(batch.lease));
    const { answered, failed } = batch;
    batch.emit('batch:collected', { ...batch.facts(), answered, failed });
    batch.isCollected();
  }

  async #read(batch: ActiveBatch, remote: Remote, round: Round): Promise<void> {
    if (!remote.readable) return;
    const { stopped, report } = this.#workshop;
    // An answer without a price is an answer all the same.
    await loadPrices().catch((error: unknown) => report('load the list prices', error));
    await batch.queue.transfer(async () => {
      let rows: Row[] = [];
      let characters = 0;
      const store = async () => {
        const held = rows;
        rows = [];
        characters = 0;
        await this.#store(batch, held, round);
      };
      try {
        for await (const group of batch.batcher.results(batch.wire, remote, batch.cursor)) {
          for (const row of group) {
            rows.push(row);
            characters += charactersOf(row);
            if (rows.length >= storeAtOnce || characters >= charactersAtOnce) await store();
          }
        }
      } finally {
        // What came before a download broke has come.
        if (!stopped.aborted) await store();
      }
    }, stopped);
  }

  async #store(
    batch: ActiveBatch,
    rows: readonly Row[],
    round: Round,
    { retries } = { retries: false },
  ): Promise<void> {
    const settlements: Settlement[] = [];
    const decisions = new Map<ItemId, Decision>();
    let cursor: string | undefined;
    const slice = new Slice();
    for (const row of rows) {
      if (slice.isOver) await slice.next();
      if ('cursor' in row) {
        cursor = row.cursor;
        continue;
      }
      if ('unreadable' in row) {
        round[row.unreadable] = true;
        continue;
      }
      const member = 'id' in row ? batch.members.get(row.id) : undefined;
      if (member === undefined) round.strange += 1;
      else batch.matched = true;
      if (!('id' in row) || member === undefined || member.settled || decisions.has(row.id)) {
        continue;
      }
      if (row.outcome.kind === 'retry' && !retries) {
        // Another line may hold the answer, and that has been paid for.
        batch.retries.set(row.id, row.outcome);
        continue;
      }
      const decided = decide(batch, member, row.outcome);
      settlements.push(decided.settlement);
      decisions.set(row.id, { id: row.id, member, decided });
    }
    // What is only to be tried again is known to this process alone: another one has to read it, too.
    const durable = batch.retries.size === 0 ? cursor : undefined;
    const many = decisions.size > answerAtOnce;
    if (many) await slice.next();
    if (settlements.length > 0 || durable !== undefined) {
      await this.#write(batch, () =>
        this.#workshop.ledger.collected(batch.lease, settlements, durable),
      );
    }
    if (cursor !== undefined) batch.cursor = cursor;
    if (many) await slice.next();
    await inTurns(decisions.values(), (decision) => conclude(batch, decision, round.retries));
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

  /** Lines that hold no answer, and lines that came in no source: those never ran. */
  async #settleTheRest(batch: ActiveBatch, remote: Remote, round: Round): Promise<void> {
    const rows: Row[] = [];
    for (const [id, member] of batch.members) {
      if (member.settled) continue;
      const message = 'The provider returned no usable line for this request.';
      const last = ownAnswer(batch.batcher, 'missing', message);
      const missing = { kind: 'retry', reason: remote.unfinished ?? 'never-ran', last } as const;
      rows.push({ id, outcome: batch.retries.get(id) ?? missing });
    }
    for (let at = 0; at < rows.length; at += storeAtOnce) {
      await this.#store(batch, rows.slice(at, at + storeAtOnce), round, { retries: true });
    }
  }
}

function newRound(): Round {
  return { strange: 0, empty: false, garbled: false, unended: false, retries: [] };
}

function charactersOf(row: Row): number {
  if (!('outcome' in row)) return 0;
  const { outcome } = row;
  return (outcome.kind === 'answer' ? outcome.answer : outcome.last).body.length;
}

/** Together, so that they share a batch again. */
function requeue({ retries }: Round): void {
  for (const pending of retries.splice(0)) pending.queue.add(pending);
}

/** Of lines that only say "try again" nothing more is to be expected. */
function lacksLines({ members, retries }: ActiveBatch): boolean {
  for (const [id, { settled }] of members) if (!settled && !retries.has(id)) return true;
  return false;
}

function hasOpenMembers({ members }: ActiveBatch): boolean {
  for (const { settled } of members.values()) if (!settled) return true;
  return false;
}

/**
 * Requests have no line, and the line may be where nothing could be read. An empty source is believed if
 * the provider says that it ran no more than has been read.
 */
function unreadReason(
  batch: ActiveBatch,
  { readable, incomplete, counts }: Remote,
  { strange, empty, garbled, unended }: Round,
): UnreadableError['reason'] | undefined {
  if (!readable || incomplete || !lacksLines(batch)) return undefined;
  const { matched } = batch;
  if (garbled || (!matched && strange > 0)) return 'unreadable';
  const ranMore = counts && linesOf(batch) < counts.completed + counts.failed;
  if (unended && ranMore !== false) return 'unreadable';
  const suspect = empty ? ranMore !== false : !matched && ranMore === true;
  if (!suspect) return undefined;
  return matched ? 'empty' : 'unreadable';
}

function linesOf({ members, retries }: ActiveBatch): number {
  let lines = 0;
  for (const [id, { settled }] of members) if (settled || retries.has(id)) lines += 1;
  return lines;
}
