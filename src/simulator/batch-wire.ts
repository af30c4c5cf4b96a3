import type { Batch, BatchLine, Outcome } from './batch.ts';
import type { Dialect } from './execute.ts';
import type { BatchError } from './faults.ts';

/** What a provider adds to the life that all batches share. */
export interface BatchWire<Details> {
  /** Whether a batch can be rejected as a whole; if not, a scripted failure fails each line. */
  failsAsWhole: boolean;
  /** Reads and checks the lines. */
  prepare(batch: Batch<Details>): Promise<BatchLine[] | { errors: BatchError[] }>;
  dialect(batch: Batch<Details>): Dialect;
  /** The line of the result file. */
  resultLine(batch: Batch<Details>, customId: string, outcome: Outcome): string;
  /** Called when the results are complete and shuffled, just before the batch ends. */
  publish(batch: Batch<Details>): Promise<void>;
}

/** Counts an outcome and files its result line. */
export function addResult<Details>(
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  customId: string,
  outcome: Outcome,
): void {
  countOutcome(batch, outcome);
  resultsFor(batch, outcome).push(wire.resultLine(batch, customId, outcome));
}

export function countOutcome(batch: Batch, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'answered':
    case 'empty':
      batch.counts.succeeded += 1;
      return;
    case 'refused':
      batch.counts.errored += 1;
      return;
    default:
      batch.counts[outcome.kind] += 1;
  }
}

export function resultsFor(batch: Batch, outcome: Outcome): string[] {
  const hasAnswer = outcome.kind === 'answered' || outcome.kind === 'empty';
  return hasAnswer ? batch.results.answered : batch.results.failed;
}
