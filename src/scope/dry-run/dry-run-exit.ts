import { BatchlingError } from '../../base/errors.ts';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';

/**
 * How `batchify(fn, { dryRun: true })` ends: nothing was sent, and `summary` says what would have been.
 *
 * @example
 * try {
 *   await batchify(main, { dryRun: true });
 * } catch (error) {
 *   if (!(error instanceof DryRunExit)) throw error;
 *   console.log(error.summary.dollars.batch.most);
 * }
 */
export class DryRunExit extends BatchlingError {
  /** What would be sent, and what it may cost. */
  readonly summary: DryRunSummary;

  constructor(summary: DryRunSummary) {
    super('DRY_RUN', messageFor(summary), { facts: { ...summary } });
    this.name = 'DryRunExit';
    this.summary = summary;
  }
}

function messageFor({ deep, calls, batches }: DryRunSummary): string {
  const seen = `${calls} call${calls === 1 ? '' : 's'}, ${batches} batch${batches === 1 ? '' : 'es'}`;
  return deep
    ? `This was a dry run (${seen}): nothing was sent, and the calls were answered with placeholders.`
    : `This was a dry run (${seen}): nothing was sent, and it stopped at the first answers that were awaited.`;
}
