import { type DryRunSummary, joinedSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { addStats, emptyStats, type Stats } from '../../orchestrator/model/stats.ts';
import type { ProcessKey } from './report-folder.ts';
import type { RunMessage } from './run-message.ts';

export interface RunOutcome {
  /** The sum of all processes. */
  readonly stats: Stats;
  /** What processes have left under way, where one has left something. */
  readonly detached?: { readonly calls: number; readonly batches: number };
  /** What a dry run has found, in all processes. */
  readonly dryRun?: DryRunSummary;
}

/** What the processes of a run have done together, whether it is shown or not. */
export class RunTotals {
  readonly #stats = new Map<string, Stats>();
  readonly #dryRuns = new Map<string, DryRunSummary>();
  #detached: { calls: number; batches: number } | undefined;

  /** Numbers that cannot be added throw here, not at the end of the run. */
  message({ name }: ProcessKey, message: RunMessage): void {
    if (message.kind === 'counts') {
      const stats = emptyStats();
      addStats(stats, message.stats);
      this.#stats.set(name, stats);
    } else if (message.kind === 'dry-run') {
      this.#dryRuns.set(`${name} ${message.scope}`, joinedSummary([message.summary]));
    } else if (message.kind === 'detached') {
      this.#detached ??= { calls: 0, batches: 0 };
      this.#detached.calls += message.calls;
      this.#detached.batches += message.batches;
    }
  }

  outcome(): RunOutcome {
    const stats = emptyStats();
    for (const some of this.#stats.values()) addStats(stats, some);
    return {
      stats,
      ...(this.#detached && { detached: this.#detached }),
      ...(this.#dryRuns.size > 0 && { dryRun: joinedSummary([...this.#dryRuns.values()]) }),
    };
  }
}
