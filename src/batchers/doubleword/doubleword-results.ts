import { fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Outcome, Row } from '../batcher.ts';
import { readResultLine } from '../openai/openai-results.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { outcomeOf } from '../shared/outcomes.ts';
import { expectOk } from '../shared/replies.ts';
import { resultRows } from '../shared/result-rows.ts';

/**
 * The lines of a result file from this one on. Doubleword says how far the file goes and whether more is
 * to come, so a file that ends before it should is told as such, and one without new lines is not.
 */
export async function* fileRows(
  wire: Wire,
  path: string,
  from: number,
  judge: ReplyJudge,
  readLine: (line: string) => Row,
): AsyncIterable<readonly Row[]> {
  const at = from > 0 ? `${path}?offset=${from}` : path;
  const reply = await expectOk(wire, { method: 'GET', path: at }, judge);
  const { 'x-last-line': last, 'x-incomplete': isIncomplete } = reply.headers;
  let lines = from;
  for await (const rows of resultRows(reply, readLine)) {
    lines += rows.filter((row) => 'id' in row || 'broken' in row).length;
    const isKnownToBeEmpty = last === String(from) && rows.some(isEmptyFile);
    if (!isKnownToBeEmpty) yield rows;
  }
  if (isIncomplete === 'true' || Number(last) > lines) yield [{ unreadable: 'unended' }];
}

function isEmptyFile(row: Row): boolean {
  return 'unreadable' in row && row.unreadable === 'empty';
}

/** A failed line has no response: what happened is told in the text of its error. */
export function readDoublewordLine(line: string, requestIdHeader: string, judge: ReplyJudge): Row {
  const row = readResultLine(line, requestIdHeader, judge);
  if (!('id' in row) || row.outcome.kind !== 'retry' || row.outcome.reason !== 'never-ran') {
    return row;
  }
  const { response, error } = fields(parseJson(line));
  const { code, message } = fields(error);
  const told = text(message);
  if (told === undefined || !isEmpty(response)) return row;
  return { id: row.id, outcome: failureOf(told, Number(code), judge) };
}

/**
 * The server writes `{"type":"NonRetriableHttpStatus","details":{"status":400,"body":"…"}}` as text. What
 * names no status failed inside of Doubleword, so another attempt may go better, except where the request
 * itself could not be built.
 */
function failureOf(message: string, code: number, judge: ReplyJudge): Outcome {
  const { type, details } = fields(parseJson(message));
  const { status: given, body, error } = fields(details);
  const told = text(error) ?? message;
  const status = httpStatus(given) ?? statusIn(message) ?? httpStatus(code);
  if (status !== undefined) return outcomeOf(answerOf(status, text(body) ?? told), judge);
  if (type === 'RequestBuilderError') return outcomeOf(answerOf(400, told), judge);
  return { kind: 'retry', reason: 'server', last: answerOf(502, told) };
}

/** "… status 422 …", "HTTP 422: …" */
function statusIn(message: string): number | undefined {
  const digits = /\b(?:status|http)\b\D{0,12}([45]\d\d)\b/i.exec(message)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function httpStatus(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599
    ? (value as number)
    : undefined;
}

/** The model's own error body, or what is known in OpenAI's shape. */
function answerOf(status: number, body: string): Answer {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const own = { error: { message: body, type, param: null, code: null } };
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: isEmpty(parseJson(body)) ? JSON.stringify(own) : body,
  };
}
