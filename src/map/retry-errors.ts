import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BatchlingError } from '../base/errors.ts';
import type { BatchifyOptions } from '../options/index.ts';
import { isPackedName, kindByName } from './input/prepare-input.ts';
import { type CheckedFacts, type JobState, StateFile } from './job/job-state.ts';
import { LineSet } from './job/line-set.ts';
import { OutputFile } from './job/output-file.ts';
import { noCounts } from './job/run-job.ts';
import { parseLine } from './lines/line-format.ts';
import type { MapRequest } from './map-request.ts';
import { errorsPath, type MapEnd, type MapSurroundings, runMap, sizeOf } from './run-map.ts';

/** Characters of a merged output that are written together. */
const writtenAtOnce = 256 * 1024;

/**
 * Asks the failed lines of a finished job again, as a job of its own beside the output, and puts the new answers in
 * their places.
 */
export async function retryErrors(
  request: MapRequest,
  given: BatchifyOptions,
  surroundings: MapSurroundings,
  folder: string,
): Promise<MapEnd> {
  const { output } = request;
  if (output === undefined)
    throw wrong('--retry-errors needs the output of the last run: -o <file>.');
  if (request.restart)
    throw wrong('--restart begins anew, --retry-errors does not: give one of them.');
  const main = new StateFile(output);
  let state = await main.read();
  if (state === undefined) throw wrong(`There is no job whose output is ${output}.`);
  if (state.isMerging) state = await swap(output, main, state);
  if (!state.isFinished)
    throw wrong('The last run has not come to its end: run it again without --retry-errors first.');
  const { lines, unfit } = await failedLines(errorsPath(output), state.checked);
  await refuseChangedOutput(output, state, lines);
  const { progress, checked } = state;
  if (lines.size === 0) return { is: 'done', wasDone: true, progress, counts: noCounts(), checked };
  const run = state.retryRun ?? `map-${randomUUID()}`;
  const before = { ...state, retryRun: run };
  const merge = (selected: AsyncIterable<number>) => mergeOutputs(output, lines, before, selected);
  // Noted first: what a killed try leaves behind is known as this one's.
  const begin = () => main.write(before);
  const retry = { of: before, run, lines, unfit, begin, merge };
  const files = { output: retriedPath(output), folder, retry };
  const end = await runMap(request, given, surroundings, files);
  if (end.is !== 'done') return end;
  const after = {
    ...progress,
    done: progress.done + end.progress.done,
    failed: end.progress.failed,
    output: (await stat(mergedPath(output))).size,
    errors: end.progress.errors,
  };
  await swap(output, main, { ...before, progress: after });
  return { ...end, progress: after, checked };
}

/** Puts the merged output in its place. May be done again after a crash: what is done is not there any more. */
async function swap(output: string, main: StateFile, state: JobState): Promise<JobState> {
  const retried = retriedPath(output);
  await main.write({ ...state, isMerging: true });
  await renameIfThere(mergedPath(output), output);
  if (state.progress.failed === 0) await rm(errorsPath(output), { force: true });
  else await renameIfThere(errorsPath(retried), errorsPath(output));
  await rm(new StateFile(retried).path, { force: true });
  await rm(retried, { force: true });
  const { isMerging: _, retryRun: __, ...rest } = state;
  await main.write(rest);
  return rest;
}

/** New answers come to their places by counting lines, so the files must be as the job has left them. */
async function refuseChangedOutput(
  output: string,
  { progress }: JobState,
  failed: LineSet,
): Promise<void> {
  const errors = errorsPath(output);
  const changed = [
    ...((await sizeOf(output)) === progress.output ? [] : [output]),
    ...(failed.size === progress.failed ? [] : [errors]),
  ];
  if (changed.length === 0) return;
  throw wrong(
    `${changed.join(' and ')} changed after the job was done, so it is not known where new answers belong. ` +
      'Put it back as it was, or begin anew with --restart: answers that the ledger has are not paid again.',
  );
}

interface Failed {
  readonly lines: LineSet;
  /** Those of them that were answered, with something that did not fit. */
  readonly unfit: LineSet;
}

async function failedLines(path: string, checked: CheckedFacts): Promise<Failed> {
  const [lines, unfit] = [new LineSet(checked.lines), new LineSet(checked.lines)];
  if (!(await isThere(path))) return { lines, unfit };
  for await (const text of linesIn(createReadStream(path))) {
    const read = parseLine(text);
    // A line that is none of ours is missed when they are counted.
    if ('bad' in read) continue;
    const { line, status } = read.json;
    lines.add(Number(line) - 1);
    if (typeof status === 'number' && status < 400) unfit.add(Number(line) - 1);
  }
  return { lines, unfit };
}

/** The output as it is with the new answers, beside the one that there is. */
async function mergeOutputs(
  output: string,
  failed: LineSet,
  state: JobState,
  selected: AsyncIterable<number>,
): Promise<void> {
  const { lines: stillFailed } = await failedLines(errorsPath(retriedPath(output)), state.checked);
  const merged = await OutputFile.open(mergedPath(output), 0, isPackedName(output));
  try {
    let text = '';
    for await (const line of mergedLines(output, { failed, stillFailed }, state, selected)) {
      text += `${line}\n`;
      if (text.length < writtenAtOnce) continue;
      await merged.write(text);
      text = '';
    }
    await merged.write(text);
    await merged.sync();
  } finally {
    await merged.close();
  }
}

/** Both outputs are in the order of the input, so they are read side by side. Without that order, new ones follow. */
async function* mergedLines(
  output: string,
  { failed, stillFailed }: { readonly failed: LineSet; readonly stillFailed: LineSet },
  { terms }: JobState,
  selected: AsyncIterable<number>,
): AsyncGenerator<string> {
  const old = recordsOf(output, output);
  const fresh = recordsOf(retriedPath(output), output);
  if (isTable(output)) {
    // Both begin with the same header, unless nothing came after it.
    const headers = [await old.next(), await fresh.next()];
    const header = headers.find(({ value }) => value !== undefined);
    if (header?.value !== undefined) yield header.value;
  }
  if (terms['--unordered'] !== undefined) {
    yield* old;
    yield* fresh;
    return;
  }
  for await (const number of selected) {
    if (stillFailed.has(number)) continue;
    const { value } = await (failed.has(number) ? fresh : old).next();
    if (value !== undefined) yield value;
  }
}

function isTable(output: string): boolean {
  const kind = kindByName(output);
  return kind === 'csv' || kind === 'tsv';
}

/** The lines of a file, or the records of a table: a cell in quotes may have several lines. `named`: what it is, by its name. */
async function* recordsOf(path: string, named: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const isQuoted = kindByName(named) === 'csv';
  let record = '';
  // The unpacker has the errors of the file, too.
  const bytes = isPackedName(path) ? pipeline(file, createGunzip(), () => undefined) : file;
  for await (const line of linesIn(bytes)) {
    record += line;
    if (isQuoted && record.split('"').length % 2 === 0) record += '\n';
    else {
      yield record;
      record = '';
    }
  }
}

/** Only a line feed ends a line here: what a model wrote may hold other characters that end one elsewhere. */
async function* linesIn(input: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const text of input.setEncoding('utf8')) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function retriedPath(output: string): string {
  return `${output}.retried`;
}

function mergedPath(output: string): string {
  return `${output}.merged`;
}

async function renameIfThere(from: string, to: string): Promise<void> {
  if (await isThere(from)) await rename(from, to);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function wrong(message: string): BatchlingError {
  return new BatchlingError('INVALID_OPTION', message);
}
