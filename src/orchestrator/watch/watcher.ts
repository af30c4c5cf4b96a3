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

/** Ends that were announced before their batch was watched: so many are remembered. They may be of other programs. */
const mostEarly = 1_000;

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
  /** Accounts whose webhooks arrive; that outlives the batches that were announced. */
  readonly #told = new WeakSet<Wire>();
  /** Batches that were announced while nobody watched them: a create may still be waiting for its answer. */
  readonly #early = new Set<string>();
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
    const group = this.#groups.get(batch.wire) ?? newGroup(batch, this.#told.has(batch.wire));
    this.#groups.set(batch.wire, group);
    group.batches.set((batch.remote as Remote).id, watched);
    group.interval = range(group).minimum;
    const wait = atOnce ? 0 : jittered(group.interval);
    // The next round may come sooner, never later: batches that keep coming must not put it off.
    group.dueAt = Math.min(group.dueAt, this.#notBeforeAsked(group, wait));
    const { id } = batch.remote as Remote;
    const { name } = batch.batcher.info;
    if (this.#early.delete(earlyKey(name, id))) this.hint(name, id);
    else this.#arm();
    return true;
  }

  /**
   * A webhook of the provider says that this batch is over: it is looked at now. Where none of these ids is known, all
   * accounts of the provider are: an id in a webhook may be written in another way than in the API.
   */
  hint(provider: string, id: string): void {
    const groups = [...this.#groups.values()].filter(
      ({ batcher }) => batcher.info.name === provider,
    );
    const known = groups.filter((group) => nameIn(group, id) !== undefined);
    if (known.length === 0) this.#remember(earlyKey(provider, id));
    for (const group of known.length > 0 ? known : groups) {
      const name = nameIn(group, id);
      if (name !== undefined) group.hinted.add(name);
      // It may be faster than what it tells of: until that is seen, polls come as often as ever.
      group.isTold = false;
      group.interval = range(group).minimum;
      group.dueAt = this.#notBeforeAsked(group, 0);
    }
    this.#arm();
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

  #remember(early: string): void {
    this.#early.add(early);
    const [oldest] = this.#early;
    if (this.#early.size > mostEarly && oldest !== undefined) this.#early.delete(oldest);
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
      // Whatever makes the group due from now on counts for the next round: this one may have asked too early.
      group.dueAt = Number.POSITIVE_INFINITY;
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
    const { minimum, maximum } = range(group);
    group.interval = Math.min(Math.max(group.interval * growth, minimum), maximum);
    // The provider knows better than our own backing off.
    const wait = this.#isSentAway(group) ? group.interval : waitOf(group);
    group.dueAt = Math.min(group.dueAt, this.#notBeforeAsked(group, wait));
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
    const { stopped, troubles } = this.#context;
    // The engine goes down and has cut it off.
    if (stopped.aborted) return;
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
        if (remote.state === 'ended') this.#learnFrom(group, remote.id);
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

  /** Whether webhooks arrive shows at each end: was it announced, or did a poll find it? */
  #learnFrom(group: PollGroup, id: string): void {
    const isTold = group.hinted.delete(id);
    group.isTold = isTold;
    if (isTold) this.#told.add(group.wire);
    else this.#told.delete(group.wire);
  }

  #isSentAway({ wire }: PollGroup): boolean {
    return (this.#awayUntil.get(wire) ?? 0) > this.#context.clock.now();
  }
}

/** `batches/123` and `123` are one batch. */
function earlyKey(provider: string, id: string): string {
  return `${provider} ${id.slice(id.lastIndexOf('/') + 1)}`;
}

/** The id of a watched batch that this one names: `batches/123` for `123`. */
function nameIn({ batches }: PollGroup, id: string): string | undefined {
  if (batches.has(id)) return id;
  for (const name of batches.keys()) if (name.endsWith(`/${id}`)) return name;
  return undefined;
}

function polledOf({ batches }: PollGroup, ids: readonly string[]): PolledBatch[] {
  return ids.flatMap((id) => {
    const batch = batches.get(id)?.batch;
    return batch ? [{ id, count: batch.count, handle: batch.handle }] : [];
  });
}
