import { messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';

/** What a line asks for. */
export interface LineRequest {
  /** The user's own name for it; a row has its number. */
  readonly id: string;
  /** Below the root of the provider: `/chat/completions`. */
  readonly path: string;
  /** JSON, as it goes to the provider. */
  readonly body: string;
  /** What a provider's rules look at in the body: all of it but the text of a prompt. */
  readonly json: JsonObject;
  /** The row that it was made of. */
  readonly row?: JsonObject;
}

/** Why a line cannot be sent. */
export interface BadLine {
  readonly bad: string;
  readonly id?: string;
}

/** The output line of an answer, or why it is a failed line although the provider has answered. */
export type Written = { readonly line: string } | { readonly unfit: object };

/** One form of input, and the form of output that belongs to it. */
export interface LineFormat {
  readonly name: FormatName;
  /** Ids name lines, so no two may have the same. Rows have numbers, which cannot be doubled. */
  readonly hasIds: boolean;
  read(text: string, number: number): LineRequest | BadLine;
  /** The id of a line that was read before. */
  idOf(text: string, number: number): string;
  /** What the model said, for programs. `answer` is a success. */
  value(answer: Answer): { readonly value: unknown } | { readonly unfit: object };
  /** `answer` is a success. */
  write(text: string, number: number, answer: Answer): Written;
}

export type FormatName = 'openai' | 'anthropic' | 'google' | 'rows';

const broken = 'batchling: broken line: ';

/** Stands in the copy of a table for a row that cannot be sent. */
export function brokenLine(why: string): string {
  return JSON.stringify(`${broken}${why}`);
}

/** What to do about a file that holds a list. */
export const oneEach = "each item has to be on a line of its own (jq -c '.[]' does that to a list)";

/** The object that a line holds, or why it holds none. */
export function parseLine(text: string): { readonly json: JsonObject } | BadLine {
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return { json };
    if (Array.isArray(json)) return { bad: `it is a list: ${oneEach}` };
    const isBroken = typeof json === 'string' && json.startsWith(broken);
    return { bad: isBroken ? json.slice(broken.length) : 'it is not a JSON object' };
  } catch (error) {
    if (text.trim() === '[') return { bad: `it begins a list: ${oneEach}` };
    return { bad: `it is not JSON (${messageOf(error)})` };
  }
}
