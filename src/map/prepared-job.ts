import type { BigIntStats } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { BatchlingError, messageOf } from '../base/errors.ts';
import type { BatchifyOptions } from '../options/index.ts';
import { Destination } from './destination.ts';
import { detectFormat } from './input/detect-format.ts';
import { type InputPart, inputStart } from './input/input-part.ts';
import { kindByName, prepareInput } from './input/prepare-input.ts';
import { readLines } from './input/read-lines.ts';
import type { JobTerms } from './job/job-terms.ts';
import { outputTable, type TableKind } from './job/table-output.ts';
import { jobOptions } from './job-options.ts';
import { chooseFormat } from './lines/choose-format.ts';
import { type FormatName, parseLine } from './lines/line-format.ts';
import type { MapRequest } from './map-request.ts';

/** A job whose input can be read, and whose lines can be understood. */
export interface PreparedJob
  extends Pick<JobTerms, 'parts' | 'format' | 'destination' | 'options' | 'folder'> {
  /** The output holds a table. */
  readonly table: TableKind | undefined;
}

const longestName = 64;

/** Copies what has to be copied, and finds out what the lines are and where they go. */
export async function prepareJob(
  request: MapRequest,
  given: BatchifyOptions,
  stdin: Readable,
  folder: string,
  stopped: AbortSignal,
): Promise<PreparedJob> {
  const sources = request.inputs.map((name) => ({ name, kind: kindOf(request, name) }));
  const parts = await prepareInput(sources, folder, stdin, stopped);
  const named = request.input === 'csv' || request.input === 'tsv' ? 'rows' : request.input;
  const isTable = parts.some(({ unit }) => unit === 'row');
  const name = named ?? (isTable ? 'rows' : await formatOf(parts, request));
  const { provider, base, format } = await chooseFormat(name, request);
  const table = outputTable(request.output, format);
  const options = jobOptions({ ...given, name: given.name ?? nameOf(request) }, { base, provider });
  const destination = new Destination(options, provider, process.env);
  await destination.load();
  return { parts, format, table, destination, options, folder };
}

/** Throws where the output cannot be written, or is what is to be read: `--restart` would write over it. */
export async function refuseOutput({ inputs, output }: MapRequest): Promise<void> {
  if (output === undefined) return;
  const there = await factsOf(output);
  try {
    await access(dirname(resolve(output)), constants.W_OK);
    if (there && !there.isFile()) {
      throw new Error(`${output} is no file. Without -o answers go to standard output`);
    }
  } catch (error) {
    const message = `The output cannot be written: ${messageOf(error)}`;
    throw new BatchlingError('INVALID_OPTION', message, { cause: error });
  }
  for (const input of inputs) {
    // By its number: a file may have several names.
    const file = input === '-' ? undefined : await factsOf(input);
    if (file === undefined || file.ino !== there?.ino || file.dev !== there.dev) continue;
    throw new BatchlingError(
      'INVALID_OPTION',
      `${input} is the input and the output: name another output.`,
    );
  }
}

async function factsOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}

function kindOf({ input }: MapRequest, name: string): 'lines' | 'csv' | 'tsv' {
  if (input === 'csv' || input === 'tsv') return input;
  return input === undefined ? (kindByName(name) ?? 'lines') : 'lines';
}

/** `batchling ls` shows the job by the name of its output. */
function nameOf({ output }: MapRequest): string {
  const name = output === undefined ? 'map' : basename(output);
  return name.replace(/\p{Cc}/gu, ' ').slice(0, longestName);
}

/** Seen by the first line that can be read. Where there is none, a prompt is for rows. */
async function formatOf(
  parts: readonly InputPart[],
  { prompt, body }: MapRequest,
): Promise<FormatName> {
  for await (const { lines } of readLines(parts, inputStart, Number.POSITIVE_INFINITY)) {
    const [first] = lines;
    if (first === undefined) continue;
    const good = lines.find(({ text }) => !('bad' in parseLine(text)));
    if (good) return detectFormat(good.text);
    const read = parseLine(first.text);
    const why = 'bad' in read ? read.bad : '';
    const message = `${first.part.shown}, line ${first.place}: ${why}. --input says what the lines are`;
    throw new BatchlingError('BAD_INPUT', message);
  }
  if (prompt !== undefined || body !== undefined) return 'rows';
  const shown = parts.map((part) => part.shown).join(', ');
  const message = `There is no line in ${shown}, so its form is not known: --input says it`;
  throw new BatchlingError('BAD_INPUT', message);
}
