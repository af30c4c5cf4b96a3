import type { BatchFailure, Remote } from '../../batchers/batcher.ts';
import { LeaseLostError } from '../../errors.ts';
import { cleanUp } from '../collect/clean-up.ts';
import type { Collector } from '../collect/collector.ts';
import type { Refusals } from '../collect/refusals.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import type { Recovery } from '../submit/find-create.ts';
import { cancelUnwanted } from './cancel.ts';
import type { Deadlines } from './deadlines.ts';
import type { LostBatches } from './unreadable-batches.ts';

/** What a batch under way meets. */
interface Stations {
  readonly collector: Collector;
  readonly refusals: Refusals;
  readonly recovery: Recovery;
  readonly deadlines: Deadlines;
  readonly lost: LostBatches;
  watch(batch: ActiveBatch): void;
  unwatch(batch: ActiveBatch): void;
}

/** Takes a batch from what its polls have seen to its end. */
export class Progress {
  readonly #workshop: Workshop;
  readonly #stations: Stations;

  constructor(workshop: Workshop, stations: Stations) {
    this.#workshop = workshop;
    this.#stations = stations;
  }

  /** What a poll has seen. */
  seen(batch: ActiveBatch, remote: Remote): void {
    if (batch.collecting) return;
    if (remote.state === 'missing') {
      this.#stations.lost.missing(batch);
      return;
    }
    this.#stations.lost.found(batch);
    // Whatever key it was sent with, this one sees it.
    batch.underOtherKey = false;
    const previous = batch.remote;
    batch.remote = remote;
    const { ledger, background } = this.#workshop;
    const { raw, counts } = remote;
    const isTold = counts && (remote.state === 'ended' || !batch.batcher.info.countsAtEnd);
    batch.emit('batch:polled', { ...batch.facts(), status: raw, ...(isTold && { counts }) });
    if (previous?.raw !== raw || previous.counts?.completed !== counts?.completed) {
      const noted = ledger.polled([{ lease: batch.lease, remote }]);
      background(`note the state of batch ${batch.token}`, noted);
    }
    if (remote.state !== 'queued' && remote.failure === undefined) batch.place?.proved();
    if (remote.state !== 'ended') {
      this.#stations.deadlines.cancelIfDue(batch);
      if (batch.cancelRequested) {
        background(`cancel batch ${batch.token}`, cancelUnwanted(this.#workshop, batch));
      }
      this.#stations.lost.overdue(batch);
      if (remote.readable && !batch.stuck) this.#readEarly(batch, remote);
      if (batch.resent) this.#lookForTwins(batch);
      return;
    }
    this.#ended(batch, remote);
  }

  /** One reading at a time; the next poll brings the next. */
  #readEarly(batch: ActiveBatch, remote: Remote): void {
    if (batch.reading) return;
    batch.reading = this.#stations.collector.collectEarly(batch, remote).then((all) => {
      batch.reading = undefined;
      // Nothing is left to wait for.
      if (all && !batch.collecting) this.#ended(batch, remote);
    });
    this.#workshop.background(`read results of batch ${batch.token}`, batch.reading);
  }

  #ended(batch: ActiveBatch, remote: Remote): void {
    batch.collecting = true;
    batch.collected = new Promise((resolve) => {
      batch.isCollected = resolve;
    });
    this.#stations.unwatch(batch);
    const ended = this.#end(batch, remote).finally(() => batch.isCollected());
    this.#workshop.background(`end batch ${batch.token}`, ended);
  }

  /** The sooner a twin is cancelled, the less of it is paid for. */
  #lookForTwins(batch: ActiveBatch): void {
    if (batch.lookingForTwins) return;
    batch.lookingForTwins = true;
    const looked = this.#stations.recovery.cancelTwins(batch).finally(() => {
      batch.lookingForTwins = false;
    });
    this.#workshop.background(`look for twins of batch ${batch.token}`, looked);
  }

  async #end(batch: ActiveBatch, remote: Remote): Promise<void> {
    const { batches, rejoin, stopped } = this.#workshop;
    try {
      await batch.reading;
      const over = remote.failure
        ? await this.#refused(batch, remote, remote.failure)
        : await this.#collect(batch, remote);
      if (!over || batch.stuck) return;
    } catch (error) {
      batches.delete(batch.lease.batch);
      if (error instanceof LeaseLostError) rejoin(batch);
      if (!stopped.aborted) batch.makeRoom();
      throw error;
    }
    batches.delete(batch.lease.batch);
    batch.isCollected();
    await cleanUp(this.#workshop, batch);
  }

  async #refused(batch: ActiveBatch, remote: Remote, failure: BatchFailure): Promise<boolean> {
    const { ledger, report } = this.#workshop;
    let trouble: unknown;
    try {
      await ledger.ended(batch.lease, `${failure.code}: ${failure.message}`);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      report(`note that batch ${batch.token} was refused`, error);
      trouble = error;
    }
    batch.freeSlot();
    const { code } = failure;
    batch.emit('batch:ended', {
      ...batch.facts(),
      status: `${remote.raw}: ${code}`,
      failure: code,
    });
    await this.#stations.refusals.handle(batch, failure, trouble);
    return true;
  }

  /** `false`: the provider has not shown all of it, so we look again. */
  async #collect(batch: ActiveBatch, remote: Remote): Promise<boolean> {
    if (batch.incompleteSince === undefined) {
      batch.emit('batch:ended', { ...batch.facts(), status: remote.raw });
    }
    if (!(await this.#stations.collector.collect(batch, remote))) {
      batch.collecting = false;
      this.#stations.watch(batch);
      return false;
    }
    batch.makeRoom();
    if (batch.resent && !batch.stuck) await this.#stations.recovery.cancelTwins(batch);
    return true;
  }
}
