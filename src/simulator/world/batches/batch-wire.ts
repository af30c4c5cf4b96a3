import type { Dialect } from '../model/execute.ts';
import type { Batch, BatchLine, Outcome } from './batch.ts';
import type { BatchError } from './batch-script.ts';

/** What a provider adds to the life that all batches share. */
export interface BatchWire<Details> {
  /** Whether a batch can be rejected as a whole; if not, a scripted failure fails each line. */
  failsAsWhole: boolean;
  /** Reads and checks the lines. */
  prepare(batch: Batch<Details>): Promise<BatchLine[] | { errors: BatchError[] }>;
  dialect(batch: Batch<Details>): Dialect;
  /** Called when the first line is about to be executed. */
  started?(batch: Batch<Details>): void;
  /** Called for each result line with an answer, as soon as there is one. */
  answered?(batch: Batch<Details>, line: string): void;
  /** Called for each result line, whatever became of its request, as soon as there is one. */
  filed?(batch: Batch<Details>, line: string): void;
  /** Whether results can be read before the batch has ended. */
  isReadEarly?(): boolean;
  /** The line of the result file; null: there is none. */
  resultLine(batch: Batch<Details>, customId: string, outcome: Outcome): string | null;
  /** Called when it has ended, whatever became of it. */
  ended?(batch: Batch<Details>): void;
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
  fileLine(wire, batch, outcome, wire.resultLine(batch, customId, outcome));
}

/** Puts a line where lines with such an outcome belong. */
export function fileLine<Details>(
  wire: BatchWire<Details>,
  batch: Batch<Details>,
  outcome: Outcome,
  line: string | null,
): void {
  if (line === null) return;
  wire.filed?.(batch, line);
  if (outcome.kind === 'answered' || outcome.kind === 'empty') {
    batch.results.answered.push(line);
    wire.answered?.(batch, line);
  } else {
    batch.results.failed.push(line);
  }
}

export function countOutcome(batch: Batch, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'answered':
    case 'empty':
      batch.counts.succeeded += 1;
      return;
    case 'refused':
    case 'unstated':
      batch.counts.errored += 1;
      return;
    default:
      batch.counts[outcome.kind] += 1;
  }
}
