import { isObject, type JsonObject } from '../../base/json.ts';
import { columnJson, columnText } from './column-text.ts';

/** Text with the values of a row in it. */
export interface Template {
  /** The text for a row and what it holds, or the column that the row does not have. `text`: the row, as it is written. */
  fill(row: JsonObject, text: string): FilledBody | { readonly missing: string };
}

export interface FilledBody {
  readonly text: string;
  /** Texts of a body that is not typed may still have their columns in them: no rule of a provider looks at these. */
  readonly json: JsonObject;
}

/** A piece of JSON text, or the column whose value stands there. */
type Piece = string | { readonly column: string; readonly is: 'value' | 'inside a string' };

const slot = /\{\{\s*([^{}]+?)\s*\}\}/g;

export interface TemplateTerms {
  /** A string that is nothing but `"{{column}}"` becomes the value as it is, a number or a list; otherwise it stays text. */
  readonly typed: boolean;
  /** A part of the body in which `{{column}}` stands for nothing else: a schema. */
  readonly literal?: JsonObject | undefined;
}

/** JSON in whose strings `{{column}}` stands for the value of a row. */
export function jsonTemplate(body: JsonObject, terms: TemplateTerms): Template {
  const { typed } = terms;
  const pieces: Piece[] = [];
  addPieces(pieces, body, terms);
  const joined = joinTexts(pieces);
  return {
    fill(row, rowText) {
      let text = '';
      for (const piece of joined) {
        if (typeof piece === 'string') {
          text += piece;
          continue;
        }
        if (!Object.hasOwn(row, piece.column)) return { missing: piece.column };
        const value = row[piece.column];
        text +=
          piece.is === 'value'
            ? columnJson(value, rowText, piece.column)
            : inString(columnText(value, rowText, piece.column));
      }
      return { text, json: typed ? (JSON.parse(text) as JsonObject) : body };
    },
  };
}

function addPieces(pieces: Piece[], value: unknown, terms: TemplateTerms): void {
  if (value === terms.literal) pieces.push(JSON.stringify(value));
  else if (typeof value === 'string') addString(pieces, value, terms.typed);
  else if (Array.isArray(value)) {
    pieces.push('[');
    value.forEach((item, index) => {
      if (index > 0) pieces.push(',');
      addPieces(pieces, item, terms);
    });
    pieces.push(']');
  } else if (isObject(value)) {
    pieces.push('{');
    Object.entries(value).forEach(([key, member], index) => {
      if (index > 0) pieces.push(',');
      addString(pieces, key, false);
      pieces.push(':');
      addPieces(pieces, member, terms);
    });
    pieces.push('}');
  } else pieces.push(JSON.stringify(value));
}

function addString(pieces: Piece[], text: string, typed: boolean): void {
  const columns = [...text.matchAll(slot)];
  const [only] = columns;
  if (typed && only && only[0] === text) {
    pieces.push({ column: only[1] as string, is: 'value' });
    return;
  }
  pieces.push('"');
  let at = 0;
  for (const match of columns) {
    pieces.push(inString(text.slice(at, match.index)));
    pieces.push({ column: match[1] as string, is: 'inside a string' });
    at = match.index + match[0].length;
  }
  pieces.push(`${inString(text.slice(at))}"`);
}

function joinTexts(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') joined.splice(-1, 1, last + piece);
    else joined.push(piece);
  }
  return joined;
}

/** As it stands between the quotes of a JSON string. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
