import { BatchlingError, LeaseLostError } from '../../base/errors.ts';
import type { ItemId } from '../../base/types.ts';
import type { Remote, Row } from '../../batchers/batcher.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { Settlement } from '../../ledger/ledger.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import { batchNews, sendNews } from '../model/batch-news.ts';
import type { OrdinaryLane } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { type LineOutcome, outcomeOf, settleLine } from './line-outcome.ts';
import { newReading, type Reading, type ResultLines } from './result-lines.ts';

/**
 * At most so many rows, or so much text, go into one ledger transaction and are held in memory until
 * then. Fewer rows would cost more in transactions than they save in memory.
 */
const storeAtOnce = 1_000;
const charactersAtOnce = 2_000_000;

/** Where requests go that may go better next time. */
interface NextTries {
  sendOrdinary(request: Request, lane: OrdinaryLane): void;
  /** Their time is up. */
  endDue(callers: readonly Caller[]): Promise<void>;
}

/** Where lines of a batch should be, there is none that could be read. */
export class UnreadableError extends BatchlingError {
  readonly reason: 'unreadable' | 'empty';

  constructor({ token }: Batch, reason: 'unreadable' | 'empty') {
    super('REFUSED', `Results of batch ${token} hold no line that could be read.`);
    this.reason = reason;
  }
}

/**
 * Reads every result source of a batch, matches by id, stores, and only then answers. A caller has its
 * answer as soon as its line is stored; what may go better next time goes back to its queue at the end.
 */
export class Collector {
  readonly #context: EngineContext;
  /** What people have been advised of. */
  readonly #advised = new Set<string>();
  readonly #next: NextTries;

  constructor(context: EngineContext, next: NextTries) {
    this.#context = context;
    this.#next = next;
  }

  /** What there is of a batch that has not ended. Whatever goes wrong is read again with the rest. */
  async readEarly(batch: Batch, remote: Remote, lines: ResultLines): Promise<void> {
    try {
      await this.#readSources(batch, remote, lines, newReading());
    } catch (error) {
      this.#context.report(`read the first results of batch ${batch.token}`, error);
    }
  }

  /** Everything of a batch that has ended. Throws where lines that should be there cannot be read. */
  async read(batch: Batch, remote: Remote, lines: ResultLines): Promise<void> {
    const reading = newReading();
    if (batch.isWithoutLines) batch.setLines(await this.#context.ledger.lines(batch.lease.batch));
    await this.#readSources(batch, remote, lines, reading);
    await nextTurn();
    const reason = lines.unreadReason(remote, reading);
    if (reason) throw new UnreadableError(batch, reason);
    if (reading.strange > 0) {
      const { logger } = this.#context;
      logger.warn(`${reading.strange} lines of batch ${batch.token} were not ours`);
    }
  }

  /** Nothing more will come: lines that hold no answer, and lines that came in no source, never ran. */
  async finish(batch: Batch, remote: Remote, lines: ResultLines): Promise<void> {
    const { lost, unfinished = 'never-ran' } = remote;
    if (lost !== undefined) this.#context.logger.warn(`batch ${batch.token}: ${lost}`);
    const rows: Row[] = [];
    for (const [id, member] of batch.members) {
      if (member.isSettled) continue;
      const message = lost ?? 'The provider returned no usable line for this request.';
      const last = ownAnswer(batch.batcher, 'missing', message);
      const reason = lost === undefined ? unfinished : 'lost';
      const missing = { kind: 'retry', reason, last } as const;
      rows.push({ id, outcome: lines.retries.get(id) ?? missing });
    }
    lines.retries.clear();
    const retries: Request[] = [];
    try {
      for (let at = 0; at < rows.length; at += storeAtOnce) {
        const held = rows.slice(at, at + storeAtOnce);
        await this.#store(batch, held, lines, newReading(), retries);
      }
      const { ledger } = this.#context;
      const news = batchNews(this.#context, batch, 'batch.collected', lines.told);
      const end = () => ledger.ended(batch.lease, undefined, news);
      if (!lines.isUnwritten) await this.#write(batch, lines, end);
      sendNews(this.#context, batch);
    } finally {
      // They queue together, so that they share a batch again.
      for (const request of retries) this.#sendAgain(batch, request);
    }
    const history = batch.history(this.#context.clock.now());
    batch.emit('batch:collected', { ...batch.facts(), ...history, ...lines.told });
    this.#advise(batch, lines);
  }

  /** Says what the prompt cache would have cost less by, once for each model and topic. */
  #advise(batch: Batch, { cacheUse }: ResultLines): void {
    for (const [topic, text] of cacheUse.advice(batch)) {
      const key = `${topic} ${batch.batcher.info.name} ${batch.queue.model}`;
      if (text === undefined || this.#advised.has(key)) continue;
      this.#advised.add(key);
      this.#context.logger.info(`batchling: ${text}`);
      batch.emit('notice', { notice: 'hint', text });
    }
  }

  /** The rest of a batch that was cancelled because it was slow takes the lane that its scope wants. */
  #sendAgain({ cancellation }: Batch, request: Request): void {
    const { queue, scope, waiting } = request;
    if (cancellation.isMove && scope.onSlow !== 'wait') {
      this.#next.sendOrdinary(request, scope.onSlow);
    } else if (!request.isWanted && waiting.length > 0) {
      // They have no time to wait for company in a queue.
      this.#context.background('end requests at their deadline', this.#next.endDue(waiting));
    } else queue.add(request);
  }

  async #readSources(
    batch: Batch,
    remote: Remote,
    lines: ResultLines,
    reading: Reading,
  ): Promise<void> {
    if (!remote.readable) return;
    const { stopped, report } = this.#context;
    // An answer without a price is an answer all the same.
    await loadPrices().catch((error: unknown) => report('load the list prices', error));
    await batch.queue.transfer(async () => {
      let rows: Row[] = [];
      let characters = 0;
      const store = async () => {
        const held = rows;
        rows = [];
        characters = 0;
        await this.#store(batch, held, lines, reading);
      };
      try {
        for await (const group of batch.batcher.results(batch.wire, remote, lines.cursor)) {
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

  /** Without `retries`, lines that say "try again" are kept back: another line may hold the answer. */
  async #store(
    batch: Batch,
    rows: readonly Row[],
    lines: ResultLines,
    reading: Reading,
    retries?: Request[],
  ): Promise<void> {
    const settlements: Settlement[] = [];
    const outcomes = new Map<ItemId, LineOutcome>();
    let cursor: string | undefined;
    const slice = new Slice();
    for (const row of rows) {
      if (slice.isOver) await slice.next();
      if ('cursor' in row) {
        cursor = row.cursor;
        continue;
      }
      if ('unreadable' in row) {
        reading[row.unreadable] = true;
        continue;
      }
      const member = 'id' in row ? batch.members.get(row.id) : undefined;
      if (member === undefined) reading.strange += 1;
      else lines.hasMatched = true;
      if (!('id' in row) || member === undefined || member.isSettled || outcomes.has(row.id)) {
        continue;
      }
      if (row.outcome.kind === 'retry' && !retries) {
        lines.retries.set(row.id, row.outcome);
        continue;
      }
      const outcome = outcomeOf(batch, member, row.outcome);
      settlements.push(outcome.settlement);
      outcomes.set(row.id, outcome);
    }
    // What is only to be tried again is known to this process alone: another one has to read it, too.
    const durable = lines.retries.size === 0 ? cursor : undefined;
    await slice.next();
    if (settlements.length > 0 || durable !== undefined) {
      await this.#write(batch, lines, () =>
        this.#context.ledger.collected(batch.lease, settlements, durable),
      );
    }
    if (cursor !== undefined) lines.cursor = cursor;
    await slice.next();
    await inTurns(outcomes.values(), (outcome) => {
      lines.count(outcome.answer);
      const { member, cost } = outcome;
      if (cost) lines.spend(cost);
      if (cost?.cacheWriteTokens !== undefined) {
        lines.cacheUse.add(member.request?.expects, cost);
      }
      settleLine(batch, outcome, retries ?? []);
    });
  }

  /**
   * A full disk must not keep a paid answer from its caller. What was not written stays open in the
   * ledger, so the next run reads it at the provider again.
   */
  async #write(batch: Batch, lines: ResultLines, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      lines.isUnwritten = true;
      this.#context.report(`store answers of batch ${batch.token}`, error);
    }
  }
}

function charactersOf(row: Row): number {
  if (!('outcome' in row)) return 0;
  const { outcome } = row;
  return (outcome.kind === 'answer' ? outcome.answer : outcome.last).body.length;
}
