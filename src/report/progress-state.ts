import type {
  BatchFacts,
  BatchlingEventName,
  BatchlingEvents,
} from '../orchestrator/model/events.ts';
import type { Notice } from '../orchestrator/model/notices.ts';
import type { Counts } from '../types.ts';

/** So many changes of a batch's counts are enough to see how fast it is. */
const mostSamples = 8;

/** A batch under way, as its events tell of it. */
export interface ShownBatch extends BatchFacts {
  readonly sentAt: number;
  /** `undefined`: not looked at yet. `none`: the provider tells none before the end. */
  readonly counts: Counts | 'none' | undefined;
  /** When how many were done, each time that changed. */
  readonly samples: readonly { readonly at: number; readonly done: number }[];
  /** The provider is done with it; its results are being read. */
  readonly ended: boolean;
}

/**
 * What is under way, reduced from events and notices of one or more scopes, or processes. It knows
 * nothing of how it is shown. Times are milliseconds of whichever clock the caller uses.
 */
export class ProgressState {
  readonly #batches = new Map<string, ShownBatch>();
  readonly #troubles = new Map<string, string>();

  get batches(): ReadonlyMap<string, ShownBatch> {
    return this.#batches;
  }

  /** What is in the way now, by its id. */
  get troubles(): ReadonlyMap<string, string> {
    return this.#troubles;
  }

  event<Name extends BatchlingEventName>(
    name: Name,
    event: BatchlingEvents[Name],
    now: number,
  ): void {
    switch (name) {
      case 'batch:submitted':
        this.#add(event as BatchFacts, now);
        break;
      case 'batch:polled':
        this.#polled(event as BatchlingEvents['batch:polled'], now);
        break;
      case 'batch:ended':
        this.#ended(event as BatchlingEvents['batch:ended']);
        break;
      case 'batch:collected':
        this.#batches.delete((event as BatchFacts).batch);
        break;
      case 'batch:resent':
        this.#resent(event as BatchlingEvents['batch:resent']);
        break;
    }
  }

  notice(notice: Notice, now: number): void {
    if (notice.notice === 'trouble') this.#troubles.set(notice.id, notice.text);
    else if (notice.notice === 'over') this.#troubles.delete(notice.id);
    else if (notice.notice === 'rejoined') this.#add(notice, now - notice.age);
    else if (notice.notice === 'gave-up') this.#batches.delete(notice.batch);
  }

  /** Nobody waits for anything any more. */
  clear(): void {
    this.#batches.clear();
    this.#troubles.clear();
  }

  #add(facts: BatchFacts, sentAt: number): void {
    if (this.#batches.has(facts.batch)) return;
    const { provider, endpoint, model, batch, remoteId, count } = facts;
    this.#batches.set(batch, {
      ...{ provider, endpoint, model, batch, count },
      ...(remoteId !== undefined && { remoteId }),
      sentAt,
      counts: undefined,
      samples: [],
      ended: false,
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
    if (failure === undefined) this.#change(batch, { ended: true });
    else this.#batches.delete(batch);
  }

  #resent({ batch, gone }: BatchlingEvents['batch:resent']): void {
    if (gone) this.#batches.delete(batch);
  }

  #change(token: string, change: Partial<ShownBatch>): void {
    const batch = this.#batches.get(token);
    if (batch) this.#batches.set(token, { ...batch, ...change });
  }
}

/** Requests that are done, of those under way. */
export function doneOf({ counts }: ShownBatch): number {
  return typeof counts === 'object' ? counts.completed + counts.failed : 0;
}

/** Milliseconds until the provider is done at the pace it has shown; `undefined`: it has shown none. */
export function timeLeft({ samples, count }: ShownBatch, now: number): number | undefined {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.done <= first.done) return undefined;
  const pace = (last.done - first.done) / Math.max(1, last.at - first.at);
  return Math.max(0, (count - last.done) / pace - (now - last.at));
}
