import type { Batcher, BatchFailure, Remote } from '../batchers/batcher.ts';
import { ReplyError } from '../batchers/replies.ts';
import { backoff } from '../http/backoff.ts';
import type { Wire } from '../http/wire.ts';
import type { ActiveBatch } from './active-batch.ts';
import type { Workshop } from './workshop.ts';

/** How fast the interval grows while nothing happens. */
const growth = 1.3;
/** So many errors in one round say that the provider is down, not that one batch is broken. */
const mostErrors = 3;

/** The batches of one account at one base: one round of polling is for all of them. */
interface Group {
  readonly batcher: Batcher;
  readonly wire: Wire;
  readonly batches: Map<string, ActiveBatch>;
  interval: number;
  /** Rounds in a row in which nothing could be read. */
  errors: number;
  /** What was in the way last. */
  error: unknown;
  retryAfter: number | undefined;
  dueAt: number;
  polling: boolean;
}

/** A round could not read this batch; `denied`: because the key was refused. */
type OnUnseen = (batch: ActiveBatch, denied: BatchFailure | undefined, error: unknown) => void;

/**
 * Watches batches under way: one round for all batches of an account, so that the cost grows with
 * accounts, not with batches, and one timer for all. An error of a poll is backed off and reported; it
 * never fails a caller, and a batch that cannot be read does not hide the others.
 */
export class Watcher {
  readonly #workshop: Workshop;
  readonly #onRemote: (batch: ActiveBatch, remote: Remote) => void;
  readonly #onUnseen: OnUnseen;
  readonly #groups = new Map<Wire, Group>();
  #timer: unknown;

  constructor(
    workshop: Workshop,
    onRemote: (batch: ActiveBatch, remote: Remote) => void,
    onUnseen: OnUnseen,
  ) {
    this.#workshop = workshop;
    this.#onRemote = onRemote;
    this.#onUnseen = onUnseen;
  }

  watch(batch: ActiveBatch): void {
    const group = this.#groups.get(batch.wire) ?? newGroup(batch);
    this.#groups.set(batch.wire, group);
    group.batches.set((batch.remote as Remote).id, batch);
    group.interval = range(group).minimum;
    // Sooner perhaps, never later: batches that keep coming must not put off the next round.
    group.dueAt = Math.min(group.dueAt, this.#workshop.clock.now() + jittered(group.interval));
    this.#arm();
  }

  unwatch(batch: ActiveBatch): void {
    const group = this.#groups.get(batch.wire);
    if (group === undefined || batch.remote === undefined) return;
    group.batches.delete(batch.remote.id);
    if (group.batches.size > 0) return;
    this.#groups.delete(batch.wire);
    this.#arm();
  }

  close(): void {
    this.#groups.clear();
    this.#arm();
  }

  #arm(): void {
    const { clock } = this.#workshop;
    clock.clearTimeout(this.#timer);
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt, polling } of this.#groups.values()) {
      if (!polling) next = Math.min(next, dueAt);
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimeout(() => this.#begin(), Math.max(0, next - clock.now()));
  }

  #begin(): void {
    const now = this.#workshop.clock.now();
    for (const group of this.#groups.values()) {
      if (group.polling || group.dueAt > now) continue;
      group.polling = true;
      this.#workshop.background('poll batches', this.#round(group));
    }
    this.#arm();
  }

  async #round(group: Group): Promise<void> {
    try {
      await this.#look(group);
    } finally {
      group.polling = false;
    }
    if (group.batches.size === 0 || this.#workshop.stopped.aborted) return;
    group.interval = Math.min(group.interval * growth, range(group).maximum);
    group.dueAt = this.#workshop.clock.now() + waitOf(group);
    this.#arm();
  }

  async #look(group: Group): Promise<void> {
    const unseen = new Set(group.batches.keys());
    const { size } = unseen;
    group.retryAfter = undefined;
    let denied = await this.#poll(group, [...unseen], unseen);
    if (unseen.size > 0 && size > 1) denied = await this.#pollOneByOne(group, unseen);
    for (const id of unseen) {
      const batch = group.batches.get(id);
      if (batch) this.#onUnseen(batch, denied, group.error);
    }
    group.errors = unseen.size === size ? group.errors + 1 : 0;
  }

  /**
   * After an error: those the round did not get to. Who fails goes to the end of the line. Returns the
   * refusal where the key was refused for one after another.
   */
  async #pollOneByOne(group: Group, unseen: Set<string>): Promise<BatchFailure | undefined> {
    let errors = 0;
    for (const id of [...unseen]) {
      const denied = await this.#poll(group, [id], unseen);
      const batch = group.batches.get(id);
      if (batch === undefined || !unseen.has(id)) continue;
      if (denied) this.#onUnseen(batch, denied, group.error);
      group.batches.delete(id);
      group.batches.set(id, batch);
      errors += 1;
      if (errors === mostErrors) return denied;
    }
    return undefined;
  }

  /** Takes what it sees out of `unseen`. Returns the refusal where the key was refused. */
  async #poll(
    group: Group,
    ids: readonly string[],
    unseen: Set<string>,
  ): Promise<BatchFailure | undefined> {
    try {
      for await (const remote of group.batcher.poll(group.wire, ids)) {
        unseen.delete(remote.id);
        const batch = group.batches.get(remote.id);
        if (batch) this.#onRemote(batch, remote);
      }
    } catch (error) {
      this.#workshop.report('poll batches', error);
      group.error = error;
      if (!(error instanceof ReplyError)) return undefined;
      group.retryAfter = error.failure.retryAfter;
      if (error.status === 401 || error.status === 403) return error.failure;
    }
    return undefined;
  }
}

function newGroup({ batcher, wire }: ActiveBatch): Group {
  return {
    batcher,
    wire,
    batches: new Map(),
    interval: 0,
    errors: 0,
    error: undefined,
    retryAfter: undefined,
    dueAt: Number.POSITIVE_INFINITY,
    polling: false,
  };
}

/** Errors make it longer, never shorter. */
function waitOf({ errors, interval, retryAfter }: Group): number {
  if (errors === 0) return jittered(interval);
  return Math.max(interval, backoff({ attempt: errors, retryAfter }));
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
