import { BatchlingError } from '../base/errors.ts';
import type { DryRunSummary } from '../orchestrator/dry-run/dry-run-summary.ts';
import { scopeTerms } from '../scope/engine/scope-terms.ts';
import { type Checked, checkInput } from './check/check-input.ts';
import type { NumberFile } from './disk/number-file.ts';
import { inputStart } from './input/input-part.ts';
import { readLines } from './input/read-lines.ts';
import { type CheckedFacts, type Progress, writtenLines } from './job/job-state.ts';
import type { LineSet } from './job/line-set.ts';
import { Sample, type Selection, selectionOf } from './job/selection.ts';
import { Columns } from './job/table-output.ts';
import type { MapRequest } from './map-request.ts';
import type { PreparedJob } from './prepared-job.ts';

interface Before {
  /** What the check of an earlier run has found. */
  readonly checked: CheckedFacts | undefined;
  /** Only these lines. */
  readonly only: LineSet | undefined;
  /** How far the output is, where the cost of the rest is asked for. */
  readonly written: Progress | undefined;
}

interface Found {
  readonly checked: CheckedFacts;
  readonly selection: Selection;
  /** Missing where the job was checked before, unless this is a dry run. */
  readonly summary?: DryRunSummary;
  /** Lines of the input that ask the same as a line before them. */
  readonly same: number;
}

/** The check of an earlier run counts, unless it is needed to tell identical lines apart. */
export async function checkJob(
  request: MapRequest,
  prepared: PreparedJob,
  samples: NumberFile,
  stopped: AbortSignal,
  { checked: before, only, written }: Before,
): Promise<Found> {
  const { limit, shard, skipBad } = request;
  const chosen = only ?? (before?.sample && new Set(before.sample));
  if (before && !before.hasDoubles && !written) {
    return {
      checked: before,
      same: 0,
      selection: selectionOf({ limit: before.lines, shard, only: chosen }),
    };
  }
  const done = before && written && writtenLines(written, before.chunkLines);
  const wanted = selectionOf({ limit: before?.lines ?? limit, shard, only: chosen, without: done });
  const sample =
    request.sample === undefined || before
      ? undefined
      : new Sample(request.sample, request.seed ?? 0);
  const { options } = prepared;
  const scope = scopeTerms(options, { emit: () => undefined });
  const columns = prepared.table && new Columns();
  const result = await checkInput({
    ...prepared,
    scope,
    selection: wanted,
    sample,
    samples,
    columns,
    stopped,
  });
  if (result.bad.count > 0 && !skipBad) throw badInput(result);
  const taken = sample?.lines;
  const selection = taken ? selectionOf({ limit, shard, only: taken }) : wanted;
  const checked = before ?? {
    lines: result.lines,
    selected: result.selected,
    chunkLines: result.cost.chunkLines,
    hasDoubles: result.hasDoubles,
    ...(columns && { columns: columns.names }),
    ...(taken && { sample: [...taken] }),
  };
  const isAsked = before === undefined || written !== undefined;
  return {
    checked,
    selection,
    same: result.same,
    ...(isAsked && { summary: result.cost.summary() }),
  };
}

/** The numbers of the lines that a job takes, in their order. */
export async function* selectedLines(
  { shard }: MapRequest,
  { parts, format }: PreparedJob,
  { lines, sample }: CheckedFacts,
): AsyncGenerator<number> {
  const { includes } = selectionOf({ shard, only: sample && new Set(sample) });
  for await (const page of readLines(parts, inputStart, lines)) {
    for (const { number, text } of page.lines) {
      const id = format.hasIds ? format.read(text, number).id : undefined;
      if (includes(number, id ?? String(format.hasIds ? number + 1 : number))) yield number;
    }
  }
}

function badInput({ bad }: Pick<Checked, 'bad'>): BatchlingError {
  const lines = bad.count === 1 ? 'A line of the input is' : `${bad.count} lines of the input are`;
  const told = bad.lines().map((line) => `  ${line}`);
  const advice = '--skip-bad sends the others, and writes these into the errors.';
  const message = [`${lines} wrong, so nothing was sent:`, ...told, advice].join('\n');
  return new BatchlingError('BAD_INPUT', message, { facts: { lines: bad.count } });
}
