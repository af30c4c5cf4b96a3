import { addStats, emptyStats, type Stats } from '../orchestrator/model/stats.ts';
import { counted, summaryLine } from './summary.ts';

/** The sum of scopes that have ended and were not told of yet: a server may close thousands a minute. */
export class ClosedScopes {
  #scopes = 0;
  #sum = emptyStats();
  /** By their tokens: a batch that scopes share counts once. */
  #batches = new Set<string>();

  add(stats: Stats, batches: Iterable<string>): void {
    this.#scopes += 1;
    addStats(this.#sum, stats);
    for (const token of batches) this.#batches.add(token);
  }

  /** One line for all of them; the next sum begins anew. */
  take(): string {
    this.#sum.batches.submitted = this.#batches.size;
    const line = summaryLine(this.#sum);
    const scopes = this.#scopes;
    this.#scopes = 0;
    this.#sum = emptyStats();
    this.#batches = new Set();
    return scopes === 1 ? line : `${counted(scopes, 'scope')} closed: ${line}`;
  }
}
