import { formatDuration } from '../../base/duration.ts';
import { version } from '../../base/version.ts';
import type { Batcher, Row } from '../../batchers/batcher.ts';
import type { LiveResult } from './live-batch.ts';
import type { Sample } from './live-sample.ts';
import type { RecordingWire } from './recording-wire.ts';
import type { Redactor } from './redactor.ts';

interface LiveFacts {
  readonly batcher: Batcher;
  readonly sample: Sample;
  readonly finished: LiveResult;
  readonly cancelled: LiveResult;
  readonly wire: RecordingWire;
  readonly redactor: Redactor;
  readonly now: number;
}

/** What a user can paste into an issue: no key, no answer, no id of the account. */
export function liveReport(given: LiveFacts): {
  readonly facts: object;
  readonly lines: readonly string[];
} {
  const facts = reportFacts(given);
  return { facts, lines: linesOf(facts) };
}

function reportFacts({ batcher, sample, finished, cancelled, wire, redactor, now }: LiveFacts) {
  // A provider may repeat anything in its refusal.
  const shown = ({ refusal, ...result }: LiveResult) =>
    summaryOf(batcher, { ...result, refusal: refusal && redactor.text(refusal) });
  return {
    batchling: version,
    node: process.versions.node,
    date: new Date(now).toISOString().slice(0, 10),
    provider: batcher.info.name,
    model: sample.model,
    endpoint: sample.path,
    finished: shown(finished),
    cancelled: shown(cancelled),
    clockAhead: wire.ahead(),
    calls: wire.calls(),
    unconfirmed: batcher.notes?.unconfirmed ?? [],
  };
}

/** What batchling makes of a batch, whenever it happened. */
export function outcomeOf(batcher: Batcher, result: LiveResult): object {
  const { statuses, ...rest } = summaryOf(batcher, result);
  return { ...rest, statuses: statuses.map(({ word, means }) => ({ word, means })) };
}

function summaryOf(batcher: Batcher, result: LiveResult) {
  const { found, statuses, refusal, counts, rows } = result;
  return {
    found,
    ...(refusal !== undefined && { refusal }),
    statuses: statuses.map(({ word, means, after }) => ({ word, means, after })),
    ...(counts && { counts }),
    lines: rows.flatMap((row) => lineOf(batcher, row, result)),
  };
}

function lineOf(batcher: Batcher, row: Row, { itemId }: LiveResult): string[] {
  if ('broken' in row) return ['a line that could not be understood'];
  if ('unreadable' in row) return [`a source that is ${row.unreadable}`];
  if (!('id' in row)) return [];
  const { outcome } = row;
  const whose = row.id === itemId ? 'our line' : 'a line of somebody else';
  if (outcome.kind === 'retry') return [`${whose}: to be tried again (${outcome.reason})`];
  const { status, headers, body } = outcome.answer;
  const usage = usageOf(batcher, body);
  const tokens = usage ? `${usage.inputTokens} + ${usage.outputTokens} tokens` : 'no usage';
  const named = headers[batcher.info.requestIdHeader] === undefined ? 'no' : 'with a';
  return [`${whose}: status ${status}, ${tokens}, ${named} request id`];
}

function usageOf(batcher: Batcher, body: string) {
  try {
    return batcher.usage(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function linesOf(facts: ReturnType<typeof reportFacts>): string[] {
  const { finished, cancelled, clockAhead, calls, unconfirmed } = facts;
  const clock = clockAhead === undefined ? 'the provider tells no time' : clockText(clockAhead);
  return [
    `batchling ${facts.batchling}, Node ${facts.node}, ${facts.date}`,
    `${facts.provider}, ${facts.model}, ${facts.endpoint}`,
    '',
    'A batch of one request',
    ...resultLines(finished),
    '',
    'A batch that was cancelled right after its create',
    ...resultLines(cancelled),
    '',
    `Clock: ${clock}`,
    'Calls',
    ...calls.map((call) => `  ${call}`),
    ...(unconfirmed.length === 0 ? [] : ['', 'What the documentation leaves open']),
    ...unconfirmed.map((text) => `  ${text}`),
  ];
}

function resultLines(result: ReturnType<typeof summaryOf>): string[] {
  const { found, refusal, statuses, counts, lines } = result;
  return [
    ...(refusal === undefined ? [] : [`  the cancel was refused: ${refusal}`]),
    `  in the list: ${found}`,
    ...statuses.map(({ word, means, after }) => `  ${formatDuration(after)}: ${word} (${means})`),
    counts
      ? `  counts: ${counts.completed} completed, ${counts.failed} failed, of ${counts.total}`
      : '  counts: none',
    ...(lines.length === 0 ? ['  no result lines'] : lines.map((line) => `  ${line}`)),
  ];
}

/** The header tells whole seconds. */
function clockText(ahead: number): string {
  if (Math.abs(ahead) < 2_000) return 'as the provider has it';
  const apart = formatDuration(Math.abs(ahead));
  return `${apart} ${ahead > 0 ? 'behind' : 'ahead of'} the provider's`;
}
