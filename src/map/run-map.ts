import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BatchlingError } from '../base/errors.ts';
import type { BatchifyOptions } from '../options/index.ts';
import type { DryRunSummary } from '../orchestrator/dry-run/dry-run-summary.ts';
import { checkJob, selectedLines } from './check-job.ts';
import { NumberFile } from './disk/number-file.ts';
import { FileSink } from './job/file-sink.ts';
import { inputFacts, refuseChanged, termsOf } from './job/job-identity.ts';
import {
  type CheckedFacts,
  type JobState,
  noProgress,
  type Progress,
  StateFile,
} from './job/job-state.ts';
import type { LineSet } from './job/line-set.ts';
import { type Output, OutputFile, OutputStream } from './job/output-file.ts';
import { type JobCounts, noCounts, runJob } from './job/run-job.ts';
import type { Selection } from './job/selection.ts';
import { TableOutput } from './job/table-output.ts';
import { usualInto } from './lines/choose-format.ts';
import type { MapRequest } from './map-request.ts';
import { type PreparedJob, prepareJob } from './prepared-job.ts';

/** The world around a job. */
export interface MapSurroundings {
  readonly stdin: Readable;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly stopped: AbortSignal;
  /** Whether the job may be sent, now that its cost is known. */
  mayBegin(summary: DryRunSummary, progress: Progress): Promise<boolean>;
  /** Work begins: the numbers change from now on. */
  began(counts: Readonly<JobCounts>, progress: () => Progress, checked: CheckedFacts): void;
  tell(text: string): void;
}

/** How a job has ended for now. */
export interface MapEnd {
  readonly is: 'done' | 'detached' | 'declined';
  readonly progress: Progress;
  readonly counts: Readonly<JobCounts>;
  readonly checked: CheckedFacts;
  /** It had been finished before. */
  readonly wasDone?: true;
}

export interface JobFiles {
  readonly output: string | undefined;
  /** For files that are removed when the process is done. */
  readonly folder: string;
  /** Failed lines of a finished job are asked again. */
  readonly retry?: RetryTerms;
}

export interface RetryTerms {
  /** The state of that job. */
  readonly of: JobState;
  /** The name of this try in the ledger. */
  readonly run: string;
  readonly lines: LineSet;
  /** Those of them whose answers did not fit: they have other answers only if they are asked anew. */
  readonly unfit: LineSet;
  /** Called before anything is sent or written. */
  begin(): Promise<void>;
  /** Called when all have their outcome. `selected`: the numbers of the lines that the job takes, in their order. */
  merge(selected: AsyncIterable<number>): Promise<void>;
}

/** Asks every line of the input and writes the answers; goes on where an earlier run of the same job has stopped. */
export async function runMap(
  request: MapRequest,
  given: BatchifyOptions,
  surroundings: MapSurroundings,
  files: JobFiles,
): Promise<MapEnd> {
  const { stdin, stopped } = surroundings;
  const prepared = await prepareJob(request, given, stdin, files.folder, stopped);
  const samples = new NumberFile(prepared.folder, 'samples');
  try {
    const state = await knownState(request, files);
    const input = await inputFacts(prepared.parts, state?.input ?? [], stopped);
    const terms = termsOf(request, prepared.destination.provider);
    const { retry } = files;
    const known = state ?? retry?.of;
    if (known) refuseChanged(known, input, terms);
    const progress = state?.progress ?? noProgress;
    if (state?.isFinished && !retry) {
      return { is: 'done', wasDone: true, progress, counts: noCounts(), checked: state.checked };
    }
    // A dry run looks at what is still to be done, however far the job is.
    const written = prepared.options.dryRun === false ? undefined : progress;
    const before = { checked: known?.checked, only: retry?.lines, written };
    const found = await checkJob(request, prepared, samples, stopped, before);
    const { checked } = found;
    if (found.summary && found.same > 0) surroundings.tell(sameNote(found.same));
    if (found.summary && !(await surroundings.mayBegin(found.summary, progress))) {
      return { is: 'declined', progress, counts: noCounts(), checked };
    }
    const run = state?.run ?? retry?.run ?? `map-${randomUUID()}`;
    const job = { prepared, samples, run, input, terms, checked, selection: found.selection };
    await retry?.begin();
    const end = await work(request, job, progress, surroundings, files);
    if (end.is === 'done') await retry?.merge(selectedLines(request, prepared, checked));
    return end;
  } finally {
    await samples.close();
  }
}

/** A prompt that names no column, {text} instead of {{text}}, asks the same of every row. */
function sameNote(lines: number): string {
  const some = lines === 1 ? 'A line asks' : `${lines} lines ask`;
  return `${some} the same as a line before: each has an answer of its own, and is paid for`;
}

/** What an earlier run has left; `undefined`: the job begins now. */
async function knownState(
  request: MapRequest,
  { output, retry }: JobFiles,
): Promise<JobState | undefined> {
  if (output === undefined || request.restart) return undefined;
  const state = await new StateFile(output).read();
  // What another try has left is of no use: other lines had failed.
  if (retry && state?.run !== retry.run) return undefined;
  const isThere = await sizeOf(output);
  if (state === undefined && isThere !== undefined && isThere > 0) {
    throw new BatchlingError(
      'BAD_INPUT',
      `${output} is there already, and was not written by this job. Name another output; --restart writes over it.`,
    );
  }
  if (state === undefined) return undefined;
  const { progress } = state;
  const failed = (await sizeOf(errorsPath(output))) ?? 0;
  // Files were moved away, or a power cut has taken their end: all of it is written again, from the ledger.
  const isWhole = (isThere ?? 0) >= progress.output && failed >= progress.errors;
  return isWhole ? state : { ...state, progress: noProgress, isFinished: false };
}

interface CheckedJob extends Pick<JobState, 'run' | 'input' | 'terms' | 'checked'> {
  readonly prepared: PreparedJob;
  readonly samples: NumberFile;
  readonly selection: Selection;
}

async function work(
  request: MapRequest,
  { prepared, samples, run, input, terms, checked, selection }: CheckedJob,
  before: Progress,
  surroundings: MapSurroundings,
  files: JobFiles,
): Promise<MapEnd> {
  const { unordered, detach } = request;
  const { output, errors } = await openOutputs(files.output, before, surroundings);
  const file = files.output === undefined ? undefined : new StateFile(files.output);
  const save =
    file &&
    ((progress: Progress, isFinished = false) =>
      file.write({ run, input, terms, checked, progress, isFinished }));
  const { format, table: kind } = prepared;
  const table = kind && new TableOutput(kind, checked.columns ?? [], request.into ?? usualInto);
  const sink = new FileSink({ format, table, output, errors, before, unordered, save });
  const counts = noCounts();
  try {
    // From here on the output belongs to this job.
    await sink.save();
    surroundings.began(counts, () => sink.progress, checked);
    const { lines: total, chunkLines } = checked;
    const unfit = files.retry?.unfit;
    const job = { ...prepared, total, chunkLines, selection, samples, unfit };
    const { stopped, tell } = surroundings;
    const from = before.position;
    const end = await runJob({ job, run, sink, from, unordered, detach, stopped, counts, tell });
    await sink.save();
    const { progress } = sink;
    if (end === 'done') await save?.(progress, true);
    const isEmpty = end === 'done' && progress.failed === 0;
    if (isEmpty && files.output !== undefined) await rm(errorsPath(files.output), { force: true });
    return { is: end, progress, counts, checked };
  } catch (error) {
    // What is written stays; if that cannot be noted, it is written again.
    await sink.save().catch(() => undefined);
    throw error;
  } finally {
    await output.close();
    await errors.close();
  }
}

async function openOutputs(
  path: string | undefined,
  { output, errors }: Progress,
  { stdout, stderr }: MapSurroundings,
): Promise<{ output: Output; errors: Output }> {
  if (path === undefined)
    return { output: new OutputStream(stdout), errors: new OutputStream(stderr) };
  return {
    output: await OutputFile.open(path, output),
    errors: await OutputFile.open(errorsPath(path), errors),
  };
}

export function errorsPath(output: string): string {
  return `${output}.errors.jsonl`;
}

export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}
