import type { Batcher, BatchFailure, Remote } from '../batchers/batcher.ts';
import { ReplyError } from '../batchers/replies.ts';
import { backoff } from '../http/backoff.ts';
import type { Wire } from '../http/wire.ts';
import type { ActiveBatch } from './active-batch.ts';
import type { Workshop } from './workshop.ts';

/** How fast the interval grows while nothing happens. */
const growth = 1.3;

interface Group {
  readonly batcher: Batcher;
  readonly wire: Wire;
  readonly batches: Map<string, ActiveBatch>;
  interval: number;
  errors: number;
  timer: unknown;
  polling: boolean;
}

/**
 * Watches batches under way: one round for all batches of an account, so that the cost grows with
 * accounts, not with batches. An error of a poll is backed off and reported; it never fails a caller.
 */
export class Watcher {
  readonly #workshop: Workshop;
  readonly #onRemote: (batch: ActiveBatch, remote: Remote) => void;
  readonly #onDenied: (batch: ActiveBatch, failure: BatchFailure) => void;
  readonly #groups = new Map<Wire, Group>();

  constructor(
    workshop: Workshop,
    onRemote: (batch: ActiveBatch, remote: Remote) => void,
    onDenied: (batch: ActiveBatch, failure: BatchFailure) => void,
  ) {
    this.#workshop = workshop;
    this.#onRemote = onRemote;
    this.#onDenied = onDenied;
  }

  watch(batch: ActiveBatch): void {
    let group = this.#groups.get(batch.wire);
    if (group === undefined) {
      const { batcher, wire } = batch;
      const batches = new Map<string, ActiveBatch>();
      group = { batcher, wire, batches, interval: 0, errors: 0, timer: undefined, polling: false };
      this.#groups.set(batch.wire, group);
    }
    group.batches.set((batch.remote as Remote).id, batch);
    group.interval = range(group).minimum;
    this.#arm(group);
  }

  unwatch(batch: ActiveBatch): void {
    const group = this.#groups.get(batch.wire);
    if (group === undefined || batch.remote === undefined) return;
    group.batches.delete(batch.remote.id);
    if (group.batches.size > 0) return;
    this.#workshop.clock.clearTimeout(group.timer);
    this.#groups.delete(batch.wire);
  }

  close(): void {
    for (const group of this.#groups.values()) this.#workshop.clock.clearTimeout(group.timer);
    this.#groups.clear();
  }

  #arm(group: Group): void {
    if (group.polling) return;
    const { clock } = this.#workshop;
    clock.clearTimeout(group.timer);
    const wait =
      group.errors > 0
        ? Math.max(group.interval, backoff({ attempt: group.errors }))
        : jittered(group.interval);
    group.timer = clock.setTimeout(() => {
      this.#workshop.background('poll batches', this.#round(group));
    }, wait);
  }

  async #round(group: Group): Promise<void> {
    group.polling = true;
    try {
      const ids = [...group.batches.keys()];
      for await (const remote of group.batcher.poll(group.wire, ids)) {
        const batch = group.batches.get(remote.id);
        if (batch) this.#onRemote(batch, remote);
      }
      group.errors = 0;
    } catch (error) {
      group.errors += 1;
      this.#workshop.report('poll batches', error);
      if (error instanceof ReplyError && (error.status === 401 || error.status === 403)) {
        for (const batch of [...group.batches.values()]) this.#onDenied(batch, error.failure);
      }
    }
    group.polling = false;
    if (group.batches.size === 0 || this.#workshop.stopped.aborted) return;
    group.interval = Math.min(group.interval * growth, range(group).maximum);
    this.#arm(group);
  }
}

/** The most impatient scope decides; a provider's minimum wins over it. */
function range(group: Group): { minimum: number; maximum: number } {
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.POSITIVE_INFINITY;
  let floor = 0;
  for (const batch of group.batches.values()) {
    floor = Math.max(floor, group.batcher.limits(batch.queue.endpoint).pollMinimum);
    for (const { poll } of batch.scopes) {
      minimum = Math.min(minimum, poll.minimum);
      maximum = Math.min(maximum, poll.maximum);
    }
  }
  if (minimum === Number.POSITIVE_INFINITY) return { minimum: 10_000, maximum: 60_000 };
  return { minimum: Math.max(minimum, floor), maximum: Math.max(maximum, minimum, floor) };
}

function jittered(interval: number): number {
  return interval * (0.9 + Math.random() * 0.2);
}
