import type { SlowKind } from '../../orchestrator/model/batch-times.ts';
import { type BatchAnswers, type CallCounts, type QueueCounts, rowName } from '../call-counts.ts';
import { doneOf, type ProgressState, type ShownBatch, timeLeft } from '../progress-state.ts';

/** One model of the live display: its numbers, its age and its state. */
export interface QueueRow {
  readonly name: string;
  /** Calls that are in no batch yet. */
  readonly queued: number;
  /** All calls, the queued ones included. */
  readonly total: number;
  /** Answered calls, and requests that the provider says are done. `undefined`: it gives no counts. */
  readonly done: number | undefined;
  readonly failed: number;
  /** When the oldest batch under way was sent; `undefined`: there is none. */
  readonly since: number | undefined;
  readonly state: RowState;
  /** Milliseconds until its batches are done at their pace so far. */
  readonly left: number | undefined;
  /** Set if one of its batches is slow. */
  readonly slow: SlowKind | undefined;
}

export type RowState =
  | 'running'
  | 'silent'
  | 'finalizing'
  | 'reading'
  | 'uploading'
  | 'quota'
  | 'slot'
  | 'collecting'
  | 'calling'
  | 'done';

const none: BatchAnswers = { batch: '', good: 0, failed: 0 };

/** A row for each model, in the order of their first calls. */
export function queueRows(
  state: ProgressState,
  counts: readonly CallCounts[],
  now: number,
): QueueRow[] {
  const queues = new Map<string, QueueCounts[]>();
  for (const { queues: some } of counts) {
    for (const [name, one] of some) queues.set(name, [...(queues.get(name) ?? []), one]);
  }
  const batches = new Map<string, ShownBatch[]>();
  for (const batch of state.batches.values()) {
    const name = rowName(batch);
    batches.set(name, [...(batches.get(name) ?? []), batch]);
  }
  const names = new Set([...queues.keys(), ...batches.keys()]);
  return [...names].map((name) =>
    rowOf(name, queues.get(name) ?? [], batches.get(name) ?? [], { state, counts, now }),
  );
}

interface Surroundings {
  readonly state: ProgressState;
  readonly counts: readonly CallCounts[];
  readonly now: number;
}

function rowOf(
  name: string,
  queues: readonly QueueCounts[],
  batches: readonly ShownBatch[],
  { state, counts, now }: Surroundings,
): QueueRow {
  const sum = (field: 'captured' | 'good' | 'failed') =>
    queues.reduce((total, queue) => total + queue[field], 0);
  const accepted = batches.filter(({ stage }) => stage === 'running' || stage === 'reading');
  let underWay = 0;
  let done = sum('good');
  let failed = sum('failed');
  for (const batch of accepted) {
    const told = answersOf(batch.batch, counts);
    underWay += Math.max(0, batch.count - told.good - told.failed);
    const { completed, failed: refused } = countsOf(batch);
    done += Math.max(0, completed - told.good);
    failed += Math.max(0, refused - told.failed);
  }
  const answered = sum('good') + sum('failed');
  const queued = Math.max(0, sum('captured') - answered - underWay);
  const running = accepted.filter(({ stage }) => stage === 'running');
  const isOneByOne = queues.every(({ lane }) => lane !== undefined);
  const rowState = stateOf(name, batches, running, queued, state, isOneByOne);
  return {
    name,
    queued,
    total: answered + underWay + queued,
    done: rowState === 'silent' && done === 0 ? undefined : done,
    failed,
    since: running.length > 0 ? Math.min(...running.map(({ sentAt }) => sentAt)) : undefined,
    state: rowState,
    left: longestLeft(running, now),
    slow: running.find(({ slow }) => slow !== undefined)?.slow,
  };
}

function answersOf(batch: string, counts: readonly CallCounts[]): BatchAnswers {
  let sum = none;
  for (const { batches } of counts) {
    const one = batches.get(batch);
    if (one) sum = { batch, good: sum.good + one.good, failed: sum.failed + one.failed };
  }
  return sum;
}

function countsOf({ counts }: ShownBatch): { completed: number; failed: number } {
  return typeof counts === 'object' ? counts : { completed: 0, failed: 0 };
}

/** The batch that takes longest decides for a row of several batches. */
function stateOf(
  name: string,
  batches: readonly ShownBatch[],
  running: readonly ShownBatch[],
  queued: number,
  { troubles }: ProgressState,
  isOneByOne: boolean,
): RowState {
  if (running.length > 0) {
    if (running.every((batch) => doneOf(batch) >= batch.count)) return 'finalizing';
    return running.every(({ counts }) => counts === 'none') ? 'silent' : 'running';
  }
  if (batches.some(({ stage }) => stage === 'reading')) return 'reading';
  if (queued === 0) return 'done';
  const wait = waitOf(name, troubles);
  if (wait !== undefined) return wait;
  if (batches.some(({ stage }) => stage === 'waiting')) return 'quota';
  if (batches.length > 0) return 'uploading';
  return isOneByOne ? 'calling' : 'collecting';
}

/** What the batches of a row wait for before they are sent. */
function waitOf(name: string, troubles: ProgressState['troubles']): 'quota' | 'slot' | undefined {
  let wait: 'slot' | undefined;
  for (const { waits } of troubles.values()) {
    if (waits === undefined) continue;
    const { provider, model } = waits;
    const row = model === undefined ? undefined : rowName({ provider, model });
    if (name === row) return 'quota';
    if (model === undefined && name.startsWith(`${provider} `)) wait = 'slot';
  }
  return wait;
}

/** The estimate of the slowest batch; `undefined` where one has no estimate yet. */
export function longestLeft(batches: readonly ShownBatch[], now: number): number | undefined {
  let longest: number | undefined;
  for (const batch of batches) {
    const left = timeLeft(batch, now);
    if (left === undefined) return undefined;
    longest = Math.max(longest ?? 0, left);
  }
  return longest;
}
