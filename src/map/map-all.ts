import { createHash, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { KeepAlive } from '../concurrency/keep-alive.ts';
import { showDryRun } from '../report/text/dry-run-lines.ts';
import { DryRunExit } from '../scope/dry-run/dry-run-exit.ts';
import { scopeTerms } from '../scope/engine/scope-terms.ts';
import { checkInput } from './check/check-input.ts';
import { Destination } from './destination.ts';
import { NumberFile } from './disk/number-file.ts';
import { temporaryWorkspace } from './disk/workspace.ts';
import { detectFormat } from './input/detect-format.ts';
import { inputStart } from './input/input-part.ts';
import { spool } from './input/prepare-input.ts';
import { errorOf } from './job/file-sink.ts';
import type { Outcome } from './job/outcome.ts';
import { OutcomeQueue } from './job/outcome-queue.ts';
import { noCounts, runJob } from './job/run-job.ts';
import { selectionOf } from './job/selection.ts';
import { jobOptions } from './job-options.ts';
import { chooseFormat } from './lines/choose-format.ts';
import type { LineFormat } from './lines/line-format.ts';
import type { MapLinesOptions, MappedLine } from './map-lines.ts';

/** See `mapLines`. */
export async function* mapAll(
  lines: AsyncIterable<string | object> | Iterable<string | object>,
  options: MapLinesOptions,
): AsyncGenerator<MappedLine, void, undefined> {
  const workspace = await temporaryWorkspace();
  const { folder } = workspace;
  const stop = new AbortController();
  const keepAlive = new KeepAlive();
  keepAlive.hold();
  try {
    const path = join(folder, 'input');
    const first = { text: '' };
    const { signal } = options;
    const stopped = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    await spool(asLines(lines, first), path, stopped);
    const job = await prepare(path, first.text, folder, stopped, options);
    const outcomes = new OutcomeQueue();
    const counts = noCounts();
    const { logger } = job.options;
    const terms = { from: inputStart, unordered: false, detach: false, stopped, counts };
    const tell = (text: string) => logger.warn(text);
    const running = runJob({ ...terms, job, run: runOf(options), sink: outcomes, tell }).then(
      () => outcomes.end(),
      (error: unknown) => outcomes.fail(error),
    );
    try {
      for await (const outcome of outcomes) yield mappedLine(outcome, job.format);
    } finally {
      // A consumer that has seen enough leaves what is under way to the ledger.
      stop.abort(new Error('The consumer of mapLines has stopped.'));
      outcomes.close();
      await running;
      await job.samples.close();
    }
  } finally {
    keepAlive.release();
    await workspace.close();
  }
}

async function prepare(
  path: string,
  first: string,
  folder: string,
  stopped: AbortSignal,
  given: MapLinesOptions,
) {
  const { to, model, prompt, system, maxTokens, schema, body, url, into, input, ...rest } = given;
  const lineTerms = { to, model, prompt, system, maxTokens, schema, body, url, into };
  const { provider, base, format } = await chooseFormat(input ?? detectFormat(first), lineTerms);
  const options = jobOptions(rest, { base, provider });
  const destination = new Destination(options, provider, process.env);
  await destination.load();
  const samples = new NumberFile(folder, 'samples');
  const file = await stat(path);
  const parts = [{ shown: 'the lines', path, unit: 'line' as const, file }];
  const selection = selectionOf({});
  const scope = scopeTerms(options, { emit: () => undefined });
  const work = { parts, format, destination, options, selection, samples, folder };
  const { lines: total, cost } = await checkInput({
    ...work,
    scope,
    stopped,
    sample: undefined,
  });
  if (options.dryRun !== false) {
    const summary = cost.summary();
    showDryRun(summary, options.display);
    throw new DryRunExit(summary);
  }
  return { ...work, total, chunkLines: cost.chunkLines };
}

/** A job with a name is the same run whenever it is run again. */
function runOf({ name }: MapLinesOptions): string {
  if (name === undefined || name === null) return `map-${randomUUID()}`;
  return `map-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

async function* asLines(
  lines: AsyncIterable<string | object> | Iterable<string | object>,
  first: { text: string },
): AsyncGenerator<string> {
  for await (const line of lines) {
    // What is no JSON is told as a line of its own.
    const text = typeof line === 'string' ? line : (JSON.stringify(line) ?? String(line));
    if (first.text === '') first.text = text;
    yield `${text.replace(/[\r\n]+/g, ' ')}\n`;
  }
}

function mappedLine({ number: line, text, result }: Outcome, format: LineFormat): MappedLine {
  if ('bad' in result) {
    return { line, id: result.id, error: { status: null, reason: result.bad } };
  }
  const id = format.idOf(text, line);
  const { status } = result;
  if (status >= 400) return { line, id, error: { status, reason: errorOf(result) } };
  const read = format.value(result);
  if ('unfit' in read) return { line, id, error: { status, reason: read.unfit } };
  return { line, id, answer: read.value };
}
