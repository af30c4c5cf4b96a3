import type { Counts } from '../base/types.ts';
import {
  type BatchFacts,
  type BatchlingEvents,
  type EmittedEvents,
  type EmittedName,
  type Notice,
  noRoomYet,
  type WaitFacts,
} from '../orchestrator/events/events.ts';
import type { SlowKind } from '../orchestrator/model/batch-times.ts';

/** How many changes of a batch's counts are kept to estimate its speed. */
const mostSamples = 8;

/** A batch under way, as its events tell of it. */
export interface ShownBatch extends BatchFacts {
  readonly sentAt: number;
  /** `undefined`: not polled yet. `none`: the provider gives no counts before the end. */
  readonly counts: Counts | 'none' | undefined;
  /** The number of requests done at each change. */
  readonly samples: readonly { readonly at: number; readonly done: number }[];
  readonly stage: BatchStage;
  readonly slow?: SlowKind;
}

/**
 * `uploading`: on its way to the provider. `waiting`: the provider has no room for it yet. `reading`: the
 * provider has finished it, and its results are being read.
 */
export type BatchStage = 'uploading' | 'waiting' | 'running' | 'reading';

/** Something that is in the way now. */
export interface ShownTrouble {
  readonly text: string;
  readonly waits?: WaitFacts;
}

/**
 * The batches under way and current troubles, reduced from the events of any number of scopes. It does not know how it is shown. Times are milliseconds of the caller's clock.
 */
export class ProgressState {
  readonly #batches = new Map<string, ShownBatch>();
  readonly #troubles = new Map<string, ShownTrouble>();

  get batches(): ReadonlyMap<string, ShownBatch> {
    return this.#batches;
  }

  /** Current troubles, by their id. */
  get troubles(): ReadonlyMap<string, ShownTrouble> {
    return this.#troubles;
  }

  event<Name extends EmittedName>(name: Name, event: EmittedEvents[Name], now: number): void {
    switch (name) {
      case 'batch:submitting':
        this.#add(event as BatchFacts, now, 'uploading');
        break;
      case 'batch:submitted':
        this.#submitted(event as BatchFacts, now);
        break;
      case 'batch:polled':
        this.#polled(event as BatchlingEvents['batch:polled'], now);
        break;
      case 'batch:slow': {
        const { batch, kind } = event as BatchlingEvents['batch:slow'];
        this.#change(batch, { slow: kind });
        break;
      }
      case 'batch:ended':
        this.#ended(event as BatchlingEvents['batch:ended']);
        break;
      case 'batch:collected':
        this.#batches.delete((event as BatchFacts).batch);
        break;
      case 'batch:resent':
        this.#resent(event as BatchlingEvents['batch:resent']);
        break;
      case 'notice':
        this.#notice(event as Notice, now);
        break;
    }
  }

  /** The last scope has closed. */
  clear(): void {
    this.#batches.clear();
    this.#troubles.clear();
  }

  /** What a process that has gone leaves behind. */
  forget(batches: Iterable<string>, troubles: Iterable<string>): void {
    for (const token of batches) this.#batches.delete(token);
    for (const id of troubles) this.#troubles.delete(id);
  }

  #notice(notice: Notice, now: number): void {
    if (notice.notice === 'trouble') this.#troubles.set(notice.id, notice);
    else if (notice.notice === 'over') this.#troubles.delete(notice.id);
    else if (notice.notice === 'rejoined') this.#add(notice, now - notice.age, 'running');
    else if (notice.notice === 'gave-up') this.#batches.delete(notice.batch);
  }

  #submitted(facts: BatchFacts, sentAt: number): void {
    const known = this.#batches.get(facts.batch);
    if (known === undefined) this.#add(facts, sentAt, 'running');
    else if (known.stage === 'uploading' || known.stage === 'waiting') {
      const { batch, remoteId } = facts;
      this.#change(batch, {
        stage: 'running',
        sentAt,
        ...(remoteId !== undefined && { remoteId }),
      });
    }
  }

  #add(facts: BatchFacts, sentAt: number, stage: BatchStage): void {
    if (this.#batches.has(facts.batch)) return;
    const { provider, endpoint, model, batch, remoteId, count } = facts;
    this.#batches.set(batch, {
      provider,
      endpoint,
      model,
      batch,
      count,
      ...(remoteId !== undefined && { remoteId }),
      sentAt,
      counts: undefined,
      samples: [],
      stage,
    });
  }

  #polled({ batch: token, counts }: BatchlingEvents['batch:polled'], at: number): void {
    const batch = this.#batches.get(token);
    if (batch === undefined) return;
    if (counts === undefined) {
      this.#change(token, { counts: 'none' });
      return;
    }
    const done = counts.completed + counts.failed;
    const isNew = batch.samples.at(-1)?.done !== done;
    const samples = isNew ? [...batch.samples, { at, done }].slice(-mostSamples) : batch.samples;
    this.#change(token, { counts, samples });
  }

  #ended({ batch, failure }: BatchlingEvents['batch:ended']): void {
    if (failure === undefined) this.#change(batch, { stage: 'reading' });
    else this.#batches.delete(batch);
  }

  #resent({ batch, gone, reason }: BatchlingEvents['batch:resent']): void {
    const stage = this.#batches.get(batch)?.stage;
    const isOnItsWay = stage === 'uploading' || stage === 'waiting';
    if (isOnItsWay && reason.startsWith(noRoomYet)) this.#change(batch, { stage: 'waiting' });
    // A batch that was refused before it was accepted goes on as another batch.
    else if (gone || isOnItsWay) this.#batches.delete(batch);
  }

  #change(token: string, change: Partial<ShownBatch>): void {
    const batch = this.#batches.get(token);
    if (batch) this.#batches.set(token, { ...batch, ...change });
  }
}

/** How many requests of a batch are done. */
export function doneOf({ counts }: ShownBatch): number {
  return typeof counts === 'object' ? counts.completed + counts.failed : 0;
}

/** Milliseconds until a batch is done at its pace so far; `undefined`: it has shown none. */
export function timeLeft({ samples, count }: ShownBatch, now: number): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.done <= first.done) return undefined;
  const leftAfter = (time: number) => ((count - last.done) * time) / (last.done - first.done);
  const left = leftAfter(last.at - first.at) - (now - last.at);
  // Where the time is over, the batch has become slower: the silence since the last change counts, too.
  return left > 0 ? left : leftAfter(now - first.at);
}

const firstInterval = 60_000;
const growth = 1.5;
const longestInterval = 10 * 60_000;
/** While no request gets done, the interval is this much longer. */
const standstillFactor = 5;

/** Decides when the next progress line is due where lines stay: at intervals that grow. */
export class ProgressPace {
  #interval = firstInterval;
  #lastAt: number | undefined;
  #done = 0;

  isDue(batches: readonly ShownBatch[], now: number): boolean {
    if (batches.length === 0) {
      this.#lastAt = undefined;
      return false;
    }
    this.#lastAt ??= now;
    const done = batches.reduce((sum, batch) => sum + doneOf(batch), 0);
    const wait = done === this.#done ? this.#interval * standstillFactor : this.#interval;
    if (now - this.#lastAt < wait) return false;
    this.#lastAt = now;
    this.#done = done;
    this.#interval = Math.min(longestInterval, this.#interval * growth);
    return true;
  }
}
