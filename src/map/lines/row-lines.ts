import { messageOf } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import { withMember } from '../../batchers/shared/json-text.ts';
import { columnText } from './column-text.ts';
import { type LineFormat, parseLine, type Written } from './line-format.ts';
import type { Template } from './template.ts';
import type { WireForm } from './wire-forms.ts';

export interface RowTerms {
  readonly path: string;
  readonly body: Template;
  readonly form: Pick<WireForm, 'answer'>;
  /** The column that the answer goes into. */
  readonly into: string;
  /** What is wrong with an answer that has to fit a schema; `undefined`: it fits. Without it answers are text. */
  readonly check?: ((answer: unknown) => string | undefined) | undefined;
}

/** So many columns of a row are told where another one is missing. */
const mostNamed = 8;
/** Of each of them so many characters: what is no table may have a header of any length. */
const longestNamed = 40;

/** Any JSON object on a line, and a request made of it. The output is the row with its answer. */
export function rowLines({ path, body, form, into, check }: RowTerms): LineFormat {
  return {
    name: 'rows',
    hasIds: false,
    read(text, number) {
      const row = parseLine(text);
      if ('bad' in row) return row;
      const id = idOf(row.json, text, number);
      const filled = body.fill(row.json, text);
      if ('text' in filled) {
        return { id, path, body: filled.text, json: filled.json, row: row.json };
      }
      return { bad: noColumn(filled.missing, row.json), id };
    },
    idOf: (text, number) => idOf(JSON.parse(text) as JsonObject, text, number),
    value: (answer) => answerOf(answer, form, check),
    write(text, _number, answer): Written {
      const read = answerOf(answer, form, check);
      return 'unfit' in read ? read : { line: withMember(text, into, JSON.stringify(read.value)) };
    },
  };
}

function answerOf(
  answer: Answer,
  form: RowTerms['form'],
  check: RowTerms['check'],
): ReturnType<LineFormat['value']> {
  const given = form.answer(answer.json ?? JSON.parse(answer.body));
  if (given === undefined || given === null) return unfit('the answer holds no text', answer.body);
  if (check === undefined) return { value: given };
  const parsed = parsedAnswer(given);
  if ('error' in parsed) return unfit(`the answer is not JSON: ${parsed.error}`, given);
  const wrong = check(parsed.value);
  return wrong === undefined
    ? parsed
    : unfit(`the answer does not fit the schema: ${wrong}`, given);
}

/** Names what there is: the header may have other spaces, other letters, or another delimiter. */
function noColumn(missing: string, row: JsonObject): string {
  const names = Object.keys(row).map((name) => JSON.stringify(shortened(name)));
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  const there = names.length === 0 ? '' : `, only ${names.slice(0, mostNamed).join(', ')}${more}`;
  return `it has no column "${missing}"${there}`;
}

function shortened(name: string): string {
  return name.length > longestNamed ? `${name.slice(0, longestNamed)}…` : name;
}

/** The name of a row in messages and errors: its own `id`, or its number. */
function idOf({ id }: JsonObject, text: string, number: number): string {
  const isName = typeof id === 'string' || typeof id === 'number';
  return isName ? columnText(id, text, 'id') : String(number + 1);
}

function parsedAnswer(given: unknown): { readonly value: unknown } | { readonly error: string } {
  if (typeof given !== 'string') return { value: given };
  try {
    return { value: JSON.parse(given) };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** The answer was paid for, so its text is kept. */
function unfit(message: string, text: unknown): { readonly unfit: object } {
  return { unfit: { type: 'unfit_answer', message, text } };
}
