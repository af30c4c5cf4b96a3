import type { Sampling } from '../model/sampling.ts';
import { type OccurrenceCount, Occurrences } from './occurrences.ts';

/** The oldest are forgotten: their next call begins with the first sample again, which is in the ledger. */
const mostRuns = 1_000;

/** Occurrences of one fingerprint. Thousands may be under way at once. */
interface UnderWay {
  /** The one that was asked first in front. */
  readonly taken: Set<number>;
  /** All below it are taken. */
  lowest: number;
}

/**
 * Occurrences for a gateway. Identical calls that are under way at the same time are samples; one that comes
 * when none is under way begins with the first sample again, so that a program that crashed and runs again
 * gets its answers from the ledger. Calls of a run that the client has named are counted as in a run.
 */
export class OverlappingOccurrences implements OccurrenceCount {
  /** The key is the fingerprint. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #runs = new Map<string, Occurrences>();

  next(key: string, { run, again }: Sampling = {}): number {
    const occurrence = (again ? this.#askedBefore(key, run) : undefined) ?? this.#new(key, run);
    this.begun(key, occurrence);
    return occurrence;
  }

  begun(key: string, occurrence: number): void {
    const underWay = this.#underWay.get(key) ?? { taken: new Set(), lowest: 0 };
    this.#underWay.set(key, underWay);
    underWay.taken.add(occurrence);
  }

  ended(key: string, occurrence: number): void {
    const underWay = this.#underWay.get(key);
    if (!underWay?.taken.delete(occurrence)) return;
    underWay.lowest = Math.min(underWay.lowest, occurrence);
    if (underWay.taken.size === 0) this.#underWay.delete(key);
  }

  /** It is free as soon as it is not under way any more; in a run, for the next call of that run. */
  giveBack(key: string, occurrence: number, { run }: Sampling = {}): void {
    this.ended(key, occurrence);
    if (run !== undefined) this.#runs.get(run)?.giveBack(key, occurrence);
  }

  /** The client says that it asks again: the oldest one under way, or what its run has asked for last. */
  #askedBefore(key: string, run: string | undefined): number | undefined {
    const taken = this.#underWay.get(key)?.taken;
    const [oldest] = taken ?? [];
    if (oldest === undefined) return run === undefined ? undefined : this.#inRun(run).last(key);
    // It goes behind the others: several clients that come back at once get different samples.
    taken?.delete(oldest);
    return oldest;
  }

  #new(key: string, run: string | undefined): number {
    if (run !== undefined) return this.#inRun(run).next(key);
    const underWay = this.#underWay.get(key);
    if (underWay === undefined) return 0;
    while (underWay.taken.has(underWay.lowest)) underWay.lowest += 1;
    return underWay.lowest;
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
