import { count, field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Outcome, Row } from '../batcher.ts';
import { memberText } from '../shared/json-text.ts';
import { judgeByStatus } from '../shared/judge-reply.ts';
import { errorAnswer } from './bedrock-errors.ts';

/** One row of the output: the record as it was, with its answer or its error. */
export function readRow(line: string): Row {
  const parsed = parseJson(line);
  const id = text(field(parsed, 'recordId'));
  return id === undefined
    ? { broken: line.slice(0, 200) }
    : { id, outcome: outcomeIn(line, parsed) };
}

function outcomeIn(line: string, row: unknown): Outcome {
  const { modelOutput, error, errorMessage } = fields(row);
  if (!isEmpty(error)) return outcomeOfError(error);
  if (text(errorMessage) !== undefined) return outcomeOfError(row);
  const body = isEmpty(modelOutput) ? undefined : memberText(line, 'modelOutput');
  if (body !== undefined) {
    const headers = { 'content-type': 'application/json' };
    return { kind: 'answer', answer: { status: 200, headers, body, json: modelOutput } };
  }
  const told = text(error) ?? 'Bedrock did not answer this record.';
  return { kind: 'retry', reason: 'never-ran', last: errorAnswer(500, told) };
}

/** Bedrock tries no record again. What may go better is tried by us; its last answer is final all the same. */
function outcomeOfError(error: unknown): Outcome {
  const given = count(field(error, 'errorCode'));
  const status = given >= 400 && given < 600 ? given : 500;
  const message =
    text(field(error, 'errorMessage')) ??
    text(field(error, 'message')) ??
    'Bedrock gave no reason.';
  const answer = errorAnswer(status, message);
  const { meaning, next } = judgeByStatus({ status });
  if (next !== 'later') return { kind: 'answer', answer };
  return { kind: 'retry', reason: meaning === 'full' ? 'rate-limit' : 'server', last: answer };
}
