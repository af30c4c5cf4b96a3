import type { Target } from '../../orchestrator/capture/router.ts';
import type { InputLine, Position } from '../input/input-part.ts';
import { readLines } from '../input/read-lines.ts';
import type { LineRequest } from '../lines/line-format.ts';
import type { Chunk } from './chunk.ts';
import { doubledId, type JobTerms } from './job-terms.ts';

/** Why a line is not sent. */
export interface Unsent {
  readonly id: string;
  readonly bad: string;
}

/** What a line of the input is to its job. */
export type JobLine =
  /** It belongs to another shard, or was not chosen. */
  'skipped' | Unsent | (LineRequest & { readonly target: Target });

/** The only place where a line is read: asking and writing must agree on it. */
export function jobLine(terms: JobTerms, line: InputLine, sample: number): JobLine {
  const { format, selection, destination } = terms;
  const read = format.read(line.text, line.number);
  const id = read.id ?? String(line.number + 1);
  if (!selection.includes(line.number, format.hasIds ? id : String(line.number))) return 'skipped';
  if ('bad' in read) return { id, bad: read.bad };
  if (sample === doubledId) return { id, bad: `another line has the id "${id}", too` };
  const target = destination.target(read.path);
  if (target) return { ...read, target };
  return { id, bad: `${destination.provider} has no batches at ${read.path}` };
}

/** A line that is to be asked. */
export interface OpenLine extends LineRequest {
  readonly target: Target;
  readonly place: number;
  readonly occurrence: number;
  /** Its answers of earlier runs are not used. */
  readonly fresh: boolean;
}

/** Reads the lines of a chunk that are to be asked now, a page at a time. Returns where the next chunk begins. */
export async function readOpenLines(
  terms: JobTerms,
  chunk: Chunk,
  take: (line: OpenLine) => void,
): Promise<Position> {
  const end = Math.min(chunk.start.line + chunk.size, terms.total);
  let next = chunk.start;
  for await (const page of readLines(terms.parts, chunk.start, end)) {
    const numbers = await terms.samples.get(next.line, page.lines.length);
    for (let index = 0; index < page.lines.length; index += 1) {
      const line = page.lines[index] as InputLine;
      const place = line.number - chunk.start.line;
      if (!chunk.isOpen(place)) continue;
      const occurrence = numbers[index] as number;
      const read = jobLine(terms, line, occurrence);
      if (read === 'skipped' || 'bad' in read) chunk.done(place);
      else take({ ...read, place, occurrence, fresh: terms.unfit?.has(line.number) ?? false });
    }
    next = page.next;
  }
  return next;
}

/** Where the next chunk begins. */
export async function endOf({ parts, total }: JobTerms, { start, size }: Chunk): Promise<Position> {
  let next = start;
  for await (const page of readLines(parts, start, Math.min(start.line + size, total))) {
    ({ next } = page);
  }
  return next;
}
