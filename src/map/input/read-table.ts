import { pipeline, type Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { BatchlingError, messageOf } from '../../base/errors.ts';
import { brokenLine } from '../lines/line-format.ts';
import { longestLine } from './input-part.ts';

const rowsAtOnce = 500;

/** The rows of a table with a header, each as a JSON object on a line of its own. */
export async function* readTable(
  bytes: Readable,
  kind: 'csv' | 'tsv',
  shown: string,
): AsyncGenerator<string> {
  const parser = parse({
    bom: true,
    delimiter: kind === 'tsv' ? '\t' : ',',
    // Tabs part the cells of such a file, and quotes are text.
    quote: kind === 'tsv' ? null : '"',
    skip_empty_lines: true,
    // Files that several programs wrote have several: otherwise the first one would stand for all.
    record_delimiter: ['\r\n', '\n', '\r'],
    // Told for each row: others can be sent.
    relax_column_count: true,
    // A quote that is not closed would take the rest of the file into memory.
    max_record_size: longestLine,
  });
  // The parser has the error, too.
  pipeline(bytes, inUtf8, parser, () => undefined);
  let columns: readonly string[] | undefined;
  let text = '';
  let rows = 0;
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (columns === undefined) {
        columns = cells;
        refuseDoubled(columns);
        continue;
      }
      text += `${rowOf(cells, columns)}\n`;
      rows += 1;
      if (rows % rowsAtOnce !== 0) continue;
      yield text;
      text = '';
    }
  } catch (error) {
    const message = `${shown} is not a table: ${whyNoTable(error)}`;
    throw new BatchlingError('BAD_INPUT', message, { cause: error });
  }
  if (text !== '') yield text;
}

/** For a row that does not end the parser names the line where it gave up: the last one of the file, perhaps. */
function whyNoTable(error: unknown): string {
  const { code, records } = error as { readonly code?: string; readonly records?: number };
  const row = records === 0 ? 'its header' : `row ${records}`;
  if (code === 'CSV_QUOTE_NOT_CLOSED') return `a quote in ${row} is not closed`;
  if (code !== 'CSV_MAX_RECORD_SIZE') return messageOf(error);
  return `${row} has more than ${longestLine >> 20} MB: perhaps a quote in it is not closed`;
}

/** Spreadsheets write other encodings, whose letters would come to the model as question marks. */
async function* inUtf8(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of bytes) {
      decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new Error('it is not text in UTF-8. Save it as "CSV UTF-8", or convert it with iconv');
  }
}

/** Refuses two columns with one name: the second would hide the first. */
function refuseDoubled(columns: readonly string[]): void {
  const doubled = columns.find((name, at) => columns.indexOf(name) !== at);
  if (doubled !== undefined) throw new Error(`two of its columns are named "${doubled}"`);
}

/** A row that is too short lacks columns, which is told where they are needed. */
function rowOf(cells: readonly string[], columns: readonly string[]): string {
  if (cells.slice(columns.length).some((cell) => cell !== '')) {
    return brokenLine(
      `it has ${cells.length} cells, and the header has ${columns.length}: a cell that holds the delimiter needs quotes`,
    );
  }
  return JSON.stringify(
    Object.fromEntries(columns.slice(0, cells.length).map((name, at) => [name, cells[at]])),
  );
}
