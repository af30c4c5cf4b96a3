import {
  type DryRunDollars,
  type DryRunQueue,
  type DryRunSummary,
  type OutputBasis,
  summaryOf,
} from '../../orchestrator/dry-run/dry-run-summary.ts';
import type { Range } from '../../pricing/output-range.ts';

type Fields = Readonly<Record<string, unknown>>;

const bases: readonly string[] = ['limit', 'history', 'assumption'] satisfies OutputBasis[];
const mostQueues = 1_000;
const mostText = 500;

/** The summary that a process has reported, added up again; a queue that is none is left out. */
export function readDryRun(value: unknown): DryRunSummary {
  const given = fieldsOf(value);
  const queues = Array.isArray(given.queues) ? given.queues.slice(0, mostQueues) : [];
  const counts = {
    deep: given.deep === true,
    calls: count(given.calls),
    fromLedger: count(given.fromLedger),
    underWay: count(given.underWay),
    leftOut: count(given.leftOut),
    bypassed: count(given.bypassed),
  };
  return summaryOf(counts, queues.map(readQueue));
}

function readQueue(value: unknown): DryRunQueue {
  const given = fieldsOf(value);
  const basis = Array.isArray(given.outputBasis) ? given.outputBasis : [];
  return {
    provider: text(given.provider),
    base: text(given.base),
    endpoint: text(given.endpoint),
    model: text(given.model),
    requests: count(given.requests),
    batches: count(given.batches),
    rounds: count(given.rounds),
    oneAfterAnother: count(given.oneAfterAnother),
    realtime: count(given.realtime),
    tooLarge: count(given.tooLarge),
    inputTokens: count(given.inputTokens),
    outputTokens: range(given.outputTokens),
    outputBasis: basis.filter((name): name is OutputBasis => bases.includes(name)),
    ...(given.dollars !== undefined && { dollars: readDollars(given.dollars) }),
  };
}

function readDollars(value: unknown): DryRunDollars {
  const { batch, realtime } = fieldsOf(value);
  return { batch: range(batch), realtime: range(realtime) };
}

function range(value: unknown): Range {
  const { least, most } = fieldsOf(value);
  return { least: count(least), most: count(most) };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, mostText) : '';
}
