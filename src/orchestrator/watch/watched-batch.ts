import { LeaseLostError } from '../../base/errors.ts';
import type { BatchFailure, Remote } from '../../batchers/batcher.ts';
import { backoff, sleep } from '../../concurrency/backoff.ts';
import { missingPatience } from '../../concurrency/patience.ts';
import { type Collector, UnreadableError } from '../collect/collector.ts';
import { ResultLines } from '../collect/result-lines.ts';
import { type Batch, Moment } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { failureOf } from '../model/failure-of.ts';
import { cancelIfAskedFor } from './cancel-batch.ts';
import type { Deadlines } from './deadlines.ts';
import { overdue, underOtherKey } from './given-up.ts';
import type { Watched } from './poll-group.ts';
import type { SlowBatches } from './slow-batches.ts';
import { UnreadableTimes } from './unreadable-times.ts';
import type { Watcher } from './watcher.ts';

/** What a batch under way meets. */
export interface WatchServices {
  readonly collector: Collector;
  readonly deadlines: Deadlines;
  readonly slowBatches: SlowBatches;
  /** Looks for batches that an earlier create of this one has left, and cancels them. */
  lookForTwins(batch: Batch): Promise<void>;
  readonly watcher: Pick<Watcher, 'watch' | 'unwatch'>;
}

/**
 * A batch that the provider has, from there to its end. It may be paid for, so nothing of it is sent again in haste
 * when it cannot be read: not when the key is refused, not under another key, and "not found" only after half an hour.
 */
export class WatchedBatch implements Watched {
  readonly batch: Batch;
  readonly #ended: Promise<BatchEnd>;
  readonly #context: EngineContext;
  readonly #services: WatchServices;
  /** The provider has begun to work on it. */
  readonly #onProved: () => void;
  readonly #lines: ResultLines;
  readonly #unreadable: UnreadableTimes;
  #isUnderOtherKey: boolean;
  /** It was taken over, and this process has not seen it yet. */
  #isUnseen: boolean;
  /** When it was first seen to have ended without all of its results. */
  #incompleteSince: number | undefined;
  /** Its last states are written before its end: a ledger may have several connections. */
  #noted: Promise<unknown> = Promise.resolve();
  #end!: (end: BatchEnd) => void;
  #fail!: (error: unknown) => void;

  constructor(context: EngineContext, services: WatchServices, batch: Batch, onProved: () => void) {
    this.#context = context;
    this.#services = services;
    this.batch = batch;
    this.#onProved = onProved;
    this.#lines = new ResultLines(batch);
    this.#unreadable = new UnreadableTimes(context.clock);
    this.#isUnderOtherKey = batch.origin.isUnderOtherKey;
    this.#isUnseen = !batch.polled.hasPassed;
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (end) => void this.#noted.then(() => resolve(end));
      this.#fail = reject;
    });
  }

  /**
   * Resolves to how it ended, which is `stopped` when the engine goes down while it runs. Rejects when its results
   * cannot be collected: another owner has it, or the engine went down meanwhile.
   */
  follow({ atOnce }: { readonly atOnce: boolean }): Promise<BatchEnd> {
    // Where the engine goes down, the ledger keeps the batch for the next one.
    if (!this.#services.watcher.watch(this, { atOnce })) this.close();
    return this.#ended;
  }

  seen(remote: Remote): void {
    const { batch } = this;
    const { phase } = batch;
    batch.polled.pass();
    if (phase.name !== 'running') return;
    if (remote.state === 'missing') {
      if (this.#isUnderOtherKey) this.#over(underOtherKey(batch));
      else if (this.#unreadable.hasLasted('missing')) this.#over({ is: 'gone' });
      return;
    }
    this.#unreadable.clear();
    // A cancel from before this process came is not meant for its callers, who have asked since.
    const isOver = remote.state === 'cancelling' || remote.state === 'ended';
    if (this.#isUnseen && isOver) batch.cancellation.wasSentBefore();
    this.#isUnseen = false;
    // Whatever key it was sent with, this one sees it.
    this.#isUnderOtherKey = false;
    batch.moveTo({ ...phase, remote });
    this.#tell(phase.remote, remote);
    if (remote.state !== 'queued' && remote.failure === undefined) this.#onProved();
    if (remote.state === 'ended') {
      this.#beginToCollect(remote);
      return;
    }
    this.#services.slowBatches.look(batch);
    this.#services.deadlines.cancelIfDue(batch);
    cancelIfAskedFor(this.#context, batch);
    const overdue = this.#overdue();
    if (overdue) {
      this.#over(overdue);
      return;
    }
    if (remote.readable) this.#readEarly(remote);
    // The sooner a twin is cancelled, the less of it is paid for.
    if (batch.mayHaveTwins) void this.#services.lookForTwins(batch);
  }

  unread(denied: BatchFailure | undefined, error: unknown): void {
    this.batch.polled.pass();
    if (this.batch.phase.name !== 'running') return;
    const end = denied ? this.#denied(denied) : this.#failed(error);
    if (end) this.#over(end);
  }

  /** What is being collected may come to its end. */
  close(): void {
    if (this.batch.phase.name === 'running') this.#end({ is: 'stopped' });
  }

  #tell(previous: Remote, remote: Remote): void {
    const { batch } = this;
    const { raw, counts, state } = remote;
    const isTold = counts && (state === 'ended' || !batch.batcher.info.countsAtEnd);
    batch.emit('batch:polled', { ...batch.facts(), status: raw, ...(isTold && { counts }) });
    if (previous.raw === raw && previous.counts?.completed === counts?.completed) return;
    const { ledger, background } = this.#context;
    const noted = ledger.polled([{ lease: batch.lease, remote }]);
    background(`note the state of batch ${batch.token}`, noted);
    this.#noted = Promise.allSettled([this.#noted, noted]).then(() => undefined);
  }

  #over(end: BatchEnd): void {
    this.#services.watcher.unwatch(this);
    this.#end(end);
  }

  #denied(failure: BatchFailure): BatchEnd | undefined {
    if (this.#isUnderOtherKey) return underOtherKey(this.batch);
    const { answer } = failure;
    return this.#unreadable.hasLasted('denied') && answer ? { is: 'given up', answer } : undefined;
  }

  /** An error, whatever it was: only one that lasts, of a batch that should be long over, counts. */
  #failed(error: unknown): BatchEnd | undefined {
    return this.#unreadable.hasLasted('error') ? this.#overdue(error) : undefined;
  }

  /** The end of a batch that is older than any provider lets a batch become. */
  #overdue(error?: unknown): BatchEnd | undefined {
    const { batch } = this;
    const { phase } = batch;
    if (!('acceptedAt' in phase)) return undefined;
    const { outlives } = batch.queue.limits;
    if (this.#context.clock.now() - phase.acceptedAt < outlives) return undefined;
    return overdue(batch, error);
  }

  /** One reading at a time; the next poll brings the next. */
  #readEarly(remote: Remote): void {
    const { batch } = this;
    // Lines that were left to the ledger are read once, at the end.
    if (batch.reading || batch.isLeft || batch.phase.name !== 'running') return;
    const reading = this.#services.collector.readEarly(batch, remote, this.#lines).then(() => {
      // Nothing is left to wait for.
      if (this.#lines.areComplete && batch.phase.name === 'running') this.#beginToCollect(remote);
    });
    batch.readWith(reading);
    this.#context.background(`read results of batch ${batch.token}`, reading);
  }

  #beginToCollect(remote: Remote): void {
    const { batch } = this;
    const { phase } = batch;
    if (phase.name !== 'running') return;
    const early = batch.reading;
    batch.moveTo({ ...phase, name: 'collecting', remote, isUnreadable: false });
    this.#services.watcher.unwatch(this);
    const read = new Moment();
    batch.readWith(read.passed);
    const collected = this.#collect(remote, early, read)
      .then((end) => {
        if (end) this.#end(end);
      }, this.#fail)
      .finally(read.pass);
    this.#context.background(`collect batch ${batch.token}`, collected);
  }

  /** `undefined`: the provider has not shown all of it, so the next polls look again. */
  async #collect(
    remote: Remote,
    early: Promise<unknown> | undefined,
    read: Moment,
  ): Promise<BatchEnd | undefined> {
    const { batch } = this;
    const { clock, stopped, report, troubles } = this.#context;
    const { collector } = this.#services;
    await early;
    if (remote.failure) return { is: 'refused', failure: remote.failure };
    if (this.#incompleteSince === undefined) {
      batch.emit('batch:ended', {
        ...batch.facts(),
        ...batch.history(this.#context.clock.now()),
        status: remote.raw,
      });
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        await collector.read(batch, remote, this.#lines);
        troubles.passed(batch.wire, 'read');
        if (remote.incomplete && this.#lines.areLacking && !this.#isTooLate()) {
          this.#watchAgain();
          return undefined;
        }
        break;
      } catch (error) {
        read.pass();
        if (error instanceof LeaseLostError || stopped.aborted) throw error;
        report(`collect batch ${batch.token}`, error);
        troubles.met(batch, 'read', error);
        const end = this.#afterFailedReading(error);
        if (end === 'results are gone') break;
        if (end) return end;
        await sleep(clock, backoff({ attempt, base: 300 }), stopped);
      }
    }
    await this.#noted;
    await collector.finish(batch, remote, this.#lines);
    read.pass();
    // Nobody waits for that look: whatever it finds, this batch is over and takes up no room.
    if (batch.mayHaveTwins) void this.#services.lookForTwins(batch);
    return { is: 'collected' };
  }

  /** `undefined`: a matter of time. */
  #afterFailedReading(error: unknown): BatchEnd | 'results are gone' | undefined {
    const { batch } = this;
    if (batch.phase.name === 'collecting') batch.moveTo({ ...batch.phase, isUnreadable: true });
    const failure = failureOf(error);
    const isGone = failure?.meaning === 'gone' || error instanceof UnreadableError;
    if (!isGone) return failure?.meaning === 'denied' ? this.#denied(failure) : this.#failed(error);
    if (this.#isUnderOtherKey) return underOtherKey(batch);
    const reason = error instanceof UnreadableError ? error.reason : 'missing';
    return this.#unreadable.hasLasted(reason) ? 'results are gone' : undefined;
  }

  /** Whether results that are still to come have had their time. */
  #isTooLate(): boolean {
    const now = this.#context.clock.now();
    this.#incompleteSince ??= now;
    return now - this.#incompleteSince >= missingPatience;
  }

  #watchAgain(): void {
    const { phase } = this.batch;
    if (phase.name !== 'collecting') return;
    const { remote, acceptedAt } = phase;
    this.batch.moveTo({ name: 'running', remote, acceptedAt });
    if (!this.#services.watcher.watch(this)) this.close();
  }
}
