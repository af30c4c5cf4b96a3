import { BatchlingError } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { kindByName } from '../input/prepare-input.ts';
import { columnText } from '../lines/column-text.ts';
import type { LineFormat } from '../lines/line-format.ts';

/** Tables of people have some dozen columns. More come from rows whose keys are values. */
const mostColumns = 1_000;

export type TableKind = 'csv' | 'tsv';

/** The kind of table that an output holds by its name; `undefined`: lines of JSON. Throws where there are no rows. */
export function outputTable(
  output: string | undefined,
  { name }: Pick<LineFormat, 'name'>,
): TableKind | undefined {
  const kind = output === undefined ? 'lines' : kindByName(output);
  if (kind !== 'csv' && kind !== 'tsv') return undefined;
  if (name === 'rows') return kind;
  throw new BatchlingError(
    'INVALID_OPTION',
    `${output} cannot hold a table: the answers to ${name} lines are lines of JSON. Name the output .jsonl.`,
  );
}

/** All columns of the rows of an input, in the order in which they were met. */
export class Columns {
  readonly #names = new Set<string>();
  #last: readonly string[] = [];

  add(row: JsonObject): void {
    const names = Object.keys(row);
    const { length } = this.#last;
    if (names.length === length && names.every((name, at) => name === this.#last[at])) return;
    this.#last = names;
    for (const name of names) this.#names.add(name);
    if (this.#names.size <= mostColumns) return;
    throw new BatchlingError(
      'BAD_INPUT',
      `The rows have more than ${mostColumns} different columns, so the output cannot be a table. Name it .jsonl.`,
    );
  }

  get names(): readonly string[] {
    return [...this.#names];
  }
}

/** Writes rows with their answers as records of a table. */
export class TableOutput {
  readonly #columns: readonly string[];
  readonly #into: string;
  readonly #cell: (text: string) => string;
  readonly #delimiter: string;

  constructor(kind: TableKind, columns: readonly string[], into: string) {
    this.#columns = columns.includes(into) ? columns : [...columns, into];
    this.#into = into;
    this.#cell = kind === 'csv' ? csvCell : tsvCell;
    this.#delimiter = kind === 'csv' ? ',' : '\t';
  }

  get header(): string {
    return this.#record((column) => column);
  }

  /** `text`: a line of the input. */
  record(text: string, answer: unknown): string {
    const json: unknown = JSON.parse(text);
    const row = isObject(json) ? json : {};
    return this.#record((column) =>
      column === this.#into ? columnText(answer) : columnText(row[column], text, column),
    );
  }

  #record(textOfColumn: (column: string) => string): string {
    return this.#columns.map((column) => this.#cell(textOfColumn(column))).join(this.#delimiter);
  }
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell of such a table has no quotes that could hold a tab or a line break: they are written as databases do. */
function tsvCell(text: string): string {
  return text.replace(/[\\\t\r\n]/g, (character) => escapes[character] as string);
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\r': '\\r',
  '\n': '\\n',
};
