import { type DryRunSummary, joinedSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { addStats, emptyStats, type Stats } from '../../orchestrator/model/stats.ts';
import type { ProcessKey } from './report-folder.ts';
import type { RunOutcome } from './run-display.ts';
import type { RunMessage } from './run-message.ts';

/** What the processes of a run have done together, whether it is shown or not. */
export class RunTotals {
  readonly #stats = new Map<string, Stats>();
  readonly #dryRuns = new Map<string, DryRunSummary>();
  #detached: { calls: number; batches: number } | undefined;

  message({ name }: ProcessKey, message: RunMessage): void {
    if (message.kind === 'counts') this.#stats.set(name, message.stats);
    else if (message.kind === 'dry-run')
      this.#dryRuns.set(`${name} ${message.scope}`, message.summary);
    else if (message.kind === 'detached') {
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
