import { field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Outcome, Row } from '../batcher.ts';
import { elementTexts, memberText } from '../shared/json-text.ts';
import { answerHeaders, outcomeOf } from '../shared/outcomes.ts';
import { judgeGoogle } from './google-judge.ts';
import { listInside, listNames } from './google-operation.ts';
import { errorAnswer } from './google-status.ts';

/** One answer: a line of a file with its `key`, or an item of an operation with `metadata.key`. */
export function readResultLine(line: string): Row {
  const parsed = parseJson(line);
  const { key, metadata, response, error } = fields(parsed);
  const id = text(key) ?? text(field(metadata, 'key'));
  if (id === undefined) return { broken: line.slice(0, 200) };
  if (!isEmpty(response)) {
    const body = responseText(line, parsed as object);
    const headers = answerHeaders('', undefined);
    return {
      id,
      outcome: { kind: 'answer', answer: { status: 200, headers, body, json: response } },
    };
  }
  return { id, outcome: isEmpty(error) ? neverRan : errored(error) };
}

/** The answer's own text: sliced out of a compact line, looked for in any other. */
function responseText(line: string, parsed: object): string {
  const { key } = parsed as { key?: unknown };
  const start = `{"key":"${key}","response":`;
  const isCompact =
    line.startsWith(start) && line.endsWith('}') && Object.keys(parsed).length === 2;
  if (isCompact) return line.slice(start.length, -1);
  return memberText(line, 'response') ?? 'null';
}

function errored(error: unknown): Outcome {
  return outcomeOfError(errorAnswer(error));
}

/** What an error means for its request: some say that it did not run. */
export function outcomeOfError(last: Answer): Outcome {
  if (last.status === 499) return { kind: 'retry', reason: 'cancelled', last };
  if (last.status === 504) return { kind: 'retry', reason: 'expired', last };
  return outcomeOf(last, judgeGoogle);
}

const neverRan: Outcome = {
  kind: 'retry',
  reason: 'never-ran',
  last: errorAnswer({ code: 13, message: 'The provider did not answer this request.' }),
};

/** The answers that stand in an operation, sliced out of its text. */
export function inlineRows(operation: string): readonly Row[] {
  if (operation.trim() === '') return [{ unreadable: 'empty' }];
  const items = parseJson(operation) === undefined ? [] : itemTexts(operation);
  const rows = items.map(readResultLine);
  const isUnderstood = rows.some((row) => 'id' in row);
  return isUnderstood ? rows : [...rows, { unreadable: 'garbled' }];
}

function itemTexts(operation: string): readonly string[] {
  const member = (object: string | undefined, name: string) =>
    object?.trimStart().startsWith('{') ? memberText(object, name) : undefined;
  const outputs = [member(operation, 'response'), member(member(operation, 'metadata'), 'output')];
  for (const output of outputs) {
    for (const name of listNames) {
      const list = member(member(output, name), listInside);
      if (list?.startsWith('[')) return elementTexts(list);
    }
  }
  return [];
}
