import type { BatchFailure, PolledBatch, Remote } from '../../batchers/batcher.ts';
import { backoff } from '../../concurrency/backoff.ts';
import type { Wire } from '../../http/wire.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { failureOf } from '../model/failure-of.ts';
import {
  beginWith,
  jittered,
  newGroup,
  type PollGroup,
  range,
  scopesOf,
  type Watched,
  waitOf,
} from './poll-group.ts';

/** How fast the interval grows while nothing happens. */
const growth = 1.3;
/** So many errors in one round say that the provider is down, not that one batch is broken. */
const mostErrors = 3;

/**
 * Watches batches under way: one round for all batches of an account, so that the cost grows with
 * accounts, not with batches, and one timer for all. An error of a poll is backed off and reported; it
 * never fails a caller, and a batch that cannot be read does not hide the others.
 */
export class Watcher {
  readonly #context: EngineContext;
  readonly #groups = new Map<Wire, PollGroup>();
  /** When each provider wants to be asked again; that outlives the batches that we asked for. */
  readonly #awayUntil = new WeakMap<Wire, number>();
  #timer: unknown;
  #closed = false;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * `atOnce`: it has been under way for a while, so it may have ended long ago. Returns whether it is
   * watched: not after `close()`.
   */
  watch(watched: Watched, { atOnce } = { atOnce: false }): boolean {
    if (this.#closed) return false;
    const { batch } = watched;
    const group = this.#groups.get(batch.wire) ?? newGroup(batch);
    this.#groups.set(batch.wire, group);
    group.batches.set((batch.remote as Remote).id, watched);
    group.interval = range(group).minimum;
    const wait = atOnce ? 0 : jittered(group.interval);
    // The next round may come sooner, never later: batches that keep coming must not put it off.
    group.dueAt = Math.min(group.dueAt, this.#notBeforeAsked(group, wait));
    this.#arm();
    return true;
  }

  unwatch({ batch }: Watched): void {
    const group = this.#groups.get(batch.wire);
    if (group === undefined || batch.remote === undefined) return;
    group.batches.delete(batch.remote.id);
    if (group.batches.size > 0) return;
    this.#groups.delete(batch.wire);
    this.#arm();
  }

  close(): void {
    this.#closed = true;
    const groups = [...this.#groups.values()];
    this.#groups.clear();
    for (const { batches } of groups) for (const watched of batches.values()) watched.close();
    this.#arm();
  }

  #arm(): void {
    const { clock } = this.#context;
    clock.clearTimeout(this.#timer);
    let next = Number.POSITIVE_INFINITY;
    for (const { dueAt, polling } of this.#groups.values()) {
      if (!polling) next = Math.min(next, dueAt);
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = clock.setTimeout(() => this.#begin(), Math.max(0, next - clock.now()));
  }

  #begin(): void {
    const now = this.#context.clock.now();
    for (const group of this.#groups.values()) {
      if (group.polling || group.dueAt > now) continue;
      group.polling = true;
      this.#context.background('poll batches', this.#round(group));
    }
    this.#arm();
  }

  async #round(group: PollGroup): Promise<void> {
    try {
      await this.#look(group);
    } finally {
      group.polling = false;
    }
    if (group.batches.size === 0 || this.#context.stopped.aborted) return;
    group.interval = Math.min(group.interval * growth, range(group).maximum);
    // The provider knows better than our own backing off.
    const wait = this.#isSentAway(group) ? group.interval : waitOf(group);
    group.dueAt = this.#notBeforeAsked(group, wait);
    this.#arm();
  }

  /** The moment after this wait, or when the provider wants to be asked again. */
  #notBeforeAsked({ wire }: PollGroup, wait: number): number {
    return Math.max(this.#context.clock.now() + wait, this.#awayUntil.get(wire) ?? 0);
  }

  async #look(group: PollGroup): Promise<void> {
    const unseen = new Set(group.batches.keys());
    const { size } = unseen;
    let denied = await this.#poll(group, [...unseen], unseen);
    if (this.#isSentAway(group)) beginWith(group, unseen);
    else if (unseen.size > 0 && size > 1) denied = await this.#pollOneByOne(group, unseen);
    for (const id of unseen) {
      group.batches.get(id)?.unread(denied, group.error);
    }
    group.errors = unseen.size === size ? group.errors + 1 : 0;
    const { troubles } = this.#context;
    if (group.errors > 0 || this.#isSentAway(group)) {
      troubles.met({ wire: group.wire, scopes: scopesOf(group) }, 'poll', group.error);
    } else {
      troubles.passed(group.wire, 'poll');
    }
  }

  /**
   * After an error, asks for each batch that the round did not get to. One that fails goes to the end of the line.
   * Returns the refusal where the key was refused for one after another.
   */
  async #pollOneByOne(group: PollGroup, unseen: Set<string>): Promise<BatchFailure | undefined> {
    let errors = 0;
    for (const id of [...unseen]) {
      const denied = await this.#poll(group, [id], unseen);
      const watched = group.batches.get(id);
      if (watched === undefined || !unseen.has(id)) continue;
      if (denied) watched.unread(denied, group.error);
      // One that was given up at that is not asked for again.
      if (group.batches.delete(id)) group.batches.set(id, watched);
      errors += 1;
      if (this.#isSentAway(group)) return undefined;
      if (errors === mostErrors) return denied;
    }
    return undefined;
  }

  /** Takes what it sees out of `unseen`. Returns the refusal where the key was refused. */
  async #poll(
    group: PollGroup,
    ids: readonly string[],
    unseen: Set<string>,
  ): Promise<BatchFailure | undefined> {
    try {
      for await (const remote of group.batcher.poll(group.wire, polledOf(group, ids))) {
        unseen.delete(remote.id);
        group.batches.get(remote.id)?.seen(remote);
      }
    } catch (error) {
      this.#context.report('poll batches', error);
      group.error = error;
      const failure = failureOf(error);
      const { retryAfter = 0 } = failure ?? {};
      if (retryAfter > 0) {
        const until = this.#context.clock.now() + backoff({ attempt: 1, retryAfter });
        this.#awayUntil.set(group.wire, until);
      }
      if (failure?.meaning === 'denied') return failure;
    }
    return undefined;
  }

  #isSentAway({ wire }: PollGroup): boolean {
    return (this.#awayUntil.get(wire) ?? 0) > this.#context.clock.now();
  }
}

function polledOf({ batches }: PollGroup, ids: readonly string[]): PolledBatch[] {
  return ids.flatMap((id) => {
    const batch = batches.get(id)?.batch;
    return batch ? [{ id, count: batch.members.size, handle: batch.handle }] : [];
  });
}
