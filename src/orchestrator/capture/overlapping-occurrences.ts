import type { Sampling } from '../model/sampling.ts';
import { type OccurrenceCount, Occurrences } from './occurrences.ts';

/** The oldest are forgotten: their next call begins with the first sample again, which is in the ledger. */
const mostRuns = 1_000;

/**
 * Occurrences for a gateway. Identical calls that are under way at the same time are samples; one that comes
 * when none is under way begins with the first sample again, so that a program that crashed and runs again
 * gets its answers from the ledger. Calls of a run that the client has named are counted as in a run.
 */
export class OverlappingOccurrences implements OccurrenceCount {
  /** By fingerprint, the one that was asked first in front. */
  readonly #underWay = new Map<string, number[]>();
  readonly #runs = new Map<string, Occurrences>();

  next(key: string, { run, again }: Sampling = {}): number {
    const underWay = this.#underWay.get(key) ?? [];
    const [oldest] = underWay;
    if (again && oldest !== undefined) {
      // Behind the others: several clients that come back at once get different samples.
      underWay.push(underWay.shift() as number);
      return oldest;
    }
    const occurrence = run === undefined ? firstFree(underWay) : this.#inRun(run).next(key);
    if (!underWay.includes(occurrence)) underWay.push(occurrence);
    this.#underWay.set(key, underWay);
    return occurrence;
  }

  ended(key: string, occurrence: number): void {
    const underWay = this.#underWay.get(key);
    const at = underWay?.indexOf(occurrence) ?? -1;
    if (underWay === undefined || at === -1) return;
    underWay.splice(at, 1);
    if (underWay.length === 0) this.#underWay.delete(key);
  }

  /** It is free as soon as it is not under way any more. */
  giveBack(key: string, occurrence: number): void {
    this.ended(key, occurrence);
  }

  #inRun(run: string): Occurrences {
    const occurrences = this.#runs.get(run) ?? new Occurrences();
    this.#runs.delete(run);
    this.#runs.set(run, occurrences);
    if (this.#runs.size > mostRuns) {
      const [oldest] = this.#runs.keys();
      this.#runs.delete(oldest as string);
    }
    return occurrences;
  }
}

function firstFree(taken: readonly number[]): number {
  let free = 0;
  while (taken.includes(free)) free += 1;
  return free;
}
