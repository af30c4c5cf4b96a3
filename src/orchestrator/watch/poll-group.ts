import type { Batcher, BatchFailure, Remote } from '../../batchers/batcher.ts';
import { backoff } from '../../concurrency/backoff.ts';
import type { Wire } from '../../http/wire.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineScope } from '../model/call.ts';

/** A batch under way, and what it makes of what polls see. */
export interface Watched {
  readonly batch: Batch;
  seen(remote: Remote): void;
  /** A poll could not read it; `denied`: because the key was refused. */
  unread(denied: BatchFailure | undefined, error: unknown): void;
  /** The engine goes down. */
  close(): void;
}

/** The batches of one account at one base: one round of polling is for all of them. */
export interface PollGroup {
  readonly batcher: Batcher;
  readonly wire: Wire;
  readonly batches: Map<string, Watched>;
  interval: number;
  /** Rounds in a row in which nothing could be read. */
  errors: number;
  /** What was in the way last. */
  error: unknown;
  dueAt: number;
  polling: boolean;
  /** Batches of which a webhook has said that they are over. */
  readonly hinted: Set<string>;
  /** The last batch that ended was announced by a webhook, so that polls only make sure. */
  isTold: boolean;
}

/**
 * After a round that was cut short, the next one begins with the batches it did not get to. Where it got to none,
 * the first of them may be the trouble and goes to the end of the line.
 */
export function beginWith({ batches }: PollGroup, unseen: ReadonlySet<string>): void {
  const seen = [...batches.keys()].filter((id) => !unseen.has(id));
  const [first] = unseen;
  if (seen.length === 0 && first !== undefined) seen.push(first);
  for (const id of seen) {
    const watched = batches.get(id);
    batches.delete(id);
    if (watched) batches.set(id, watched);
  }
}

export function newGroup({ batcher, wire }: Batch, isTold = false): PollGroup {
  return {
    batcher,
    wire,
    batches: new Map(),
    interval: 0,
    errors: 0,
    error: undefined,
    dueAt: Number.POSITIVE_INFINITY,
    polling: false,
    hinted: new Set(),
    isTold,
  };
}

/** Errors make it longer, never shorter. */
export function waitOf({ errors, interval }: PollGroup): number {
  if (errors === 0) return jittered(interval);
  return Math.max(interval, backoff({ attempt: errors }));
}

/** How often an account is asked whose webhooks arrive. */
const pauseIfTold = 10 * 60_000;

/** The most impatient scope decides; a provider's minimum wins over it. */
export function range(group: PollGroup): { minimum: number; maximum: number } {
  const { minimum, maximum } = rangeOfScopes(group);
  if (!group.isTold) return { minimum, maximum };
  return { minimum: Math.max(minimum, pauseIfTold), maximum: Math.max(maximum, pauseIfTold) };
}

function rangeOfScopes(group: PollGroup): { minimum: number; maximum: number } {
  let minimum = Number.POSITIVE_INFINITY;
  let maximum = Number.POSITIVE_INFINITY;
  let floor = 0;
  for (const { batch } of group.batches.values()) {
    floor = Math.max(floor, batch.queue.limits.pollMinimum);
    for (const { poll } of batch.scopes) {
      minimum = Math.min(minimum, poll.minimum);
      maximum = Math.min(maximum, poll.maximum);
    }
  }
  if (minimum === Number.POSITIVE_INFINITY) return { minimum: 10_000, maximum: 60_000 };
  return { minimum: Math.max(minimum, floor), maximum: Math.max(maximum, minimum, floor) };
}

export function scopesOf({ batches }: PollGroup): ReadonlySet<EngineScope> {
  const scopes = new Set<EngineScope>();
  for (const { batch } of batches.values()) for (const scope of batch.scopes) scopes.add(scope);
  return scopes;
}

export function jittered(interval: number): number {
  return interval * (0.9 + Math.random() * 0.2);
}
