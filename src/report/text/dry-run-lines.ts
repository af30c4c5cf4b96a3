import { docsPage } from '../../base/docs-page.ts';
import type { DryRunQueue, DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { leftOutReason } from '../../orchestrator/model/stats.ts';
import { assumedOutput, type Range } from '../../pricing/output-range.ts';
import type { DisplayMode } from '../display.ts';
import { hasRunParent, reportToRun } from '../run/report-to-run.ts';
import { plainOutput } from '../terminal/line-output.ts';
import { counted, dollars, number } from './summary.ts';

/** Tells the parent of the run, where there is one, what a scope would have sent so far. */
export function reportDryRun(scope: number, summary: DryRunSummary): void {
  reportToRun({ kind: 'dry-run', scope, summary });
}

/** Shows a dry run that is over as the display is set; the parent of a run shows all of them together. */
export function showDryRun(summary: DryRunSummary, mode: DisplayMode | undefined): void {
  if (hasRunParent() || mode === 'none') return;
  if (mode === 'json')
    process.stderr.write(`${JSON.stringify({ event: 'dry-run', ...summary })}\n`);
  else plainOutput(process.stderr).print(...dryRunLines(summary));
}

/** The summary as text, a line for each queue. */
export function dryRunLines(summary: DryRunSummary): string[] {
  const { calls, fromLedger, underWay, leftOut, bypassed, batches, queues, unpriced } = summary;
  const free: string[] = [];
  if (fromLedger > 0) free.push(`${number(fromLedger)} answered from the ledger`);
  if (underWay > 0) free.push(`${number(underWay)} in batches that are under way already`);
  return [
    `dry run: nothing was sent. ${[counted(calls, 'call'), ...free].join(', ')}`,
    ...queues.flatMap((queue) => [queueLine(queue), ...waitLines(queue)]),
    ...(queues.length > 1
      ? [`all: ${counted(batches, 'batch', 'batches')}, ${money(summary)}`]
      : []),
    ...unpriced.map(
      (name) => `not in the sum: ${name}, whose price is unknown (set providers.….prices)`,
    ),
    ...(leftOut > 0 ? [`${counted(leftOut, 'call')} ${leftOutReason}, at full price`] : []),
    ...(bypassed > 0 ? [`${counted(bypassed, 'call')} cannot be batched, and not priced`] : []),
    ...basisLines(queues),
    ...endLines(summary),
  ];
}

/** Says how far the dry run came. It went through the whole program if the ledger had all the answers. */
function endLines({ deep, calls, fromLedger }: DryRunSummary): string[] {
  if (calls === fromLedger) return [];
  return deep
    ? ['answers were placeholders: real ones may lead to other calls']
    : [
        'it stopped at the first answers that were awaited. Batches that would come after these, one after another, are not ' +
          'counted: --dry-run=deep (dryRun: "deep") goes on with placeholders, and counts them',
      ];
}

function queueLine(queue: DryRunQueue): string {
  const {
    provider,
    model,
    requests,
    batches,
    realtime,
    flex,
    tooLarge,
    inputTokens,
    canaries = 0,
  } = queue;
  const parts = [counted(requests, 'request')];
  if (batches > 0) parts.push(counted(batches, 'batch', 'batches'));
  if (flex > 0) parts.push(`${number(flex)} one by one in flex`);
  if (realtime > 0) parts.push(`${number(realtime)} in realtime`);
  if (canaries > 0) parts.push(`${number(canaries)} ahead of the others (canary)`);
  if (tooLarge > 0) parts.push(`${number(tooLarge)} too large for a batch`);
  parts.push(`about ${number(inputTokens)} tokens in, ${range(queue.outputTokens, count)} out`);
  parts.push(queue.dollars ? money({ dollars: queue.dollars }) : 'price unknown');
  return `${provider} ${model}: ${parts.join(', ')}`;
}

/** A batch takes minutes to hours whatever its size: what follows another one adds that time. */
function waitLines({ provider, model, batches, rounds, oneAfterAnother: turns }: DryRunQueue) {
  if (turns <= 1) return [];
  const each =
    turns === batches ? 'each after the one before' : `${number(turns)} one after another`;
  const cure =
    rounds > 1
      ? 'Calls that do not need the answers before them can share a batch: raise the limit that holds them back ' +
        `(p-limit, LangChain's maxConcurrency, a loop with await), see ${docsPage('large-batches.md')}`
      : 'Raise maxInFlight if the account may have more under way at once, or batchSize';
  const wait = `${counted(batches, 'batch', 'batches')}, ${each}: ${number(turns)} × minutes to hours`;
  return [`${provider} ${model}: ${wait}. ${cure}`];
}

function money({ dollars: { batch, realtime } }: Pick<DryRunSummary, 'dollars'>): string {
  return `${range(batch, dollars)} (in realtime ${range(realtime, dollars)})`;
}

function range({ least, most }: Range, show: (value: number) => string): string {
  const [from, to] = [show(least), show(most)];
  return from === to ? from : `${from} to ${to}`;
}

function count(value: number): string {
  return number(Math.round(value));
}

const bases = {
  limit: 'output: at most what the requests allow',
  history: 'output: the average of past batches in the ledger',
  assumption:
    `output: assumed to be ${number(assumedOutput.least)} to ${number(assumedOutput.most)} tokens an answer, ` +
    'where a request names no maximum',
} as const;

function basisLines(queues: readonly DryRunQueue[]): string[] {
  return [...new Set(queues.flatMap(({ outputBasis }) => outputBasis))].map((name) => bases[name]);
}
