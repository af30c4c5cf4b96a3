import { field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Row } from '../batcher.ts';
import { memberText } from '../shared/json-text.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { answerHeaders, outcomeOf } from '../shared/outcomes.ts';
import { judgeOpenAI } from './openai-judge.ts';

/** How the line ends when it was written compactly in the documented order. */
const usualEnd = '},"error":null}';

/** OpenAI's codes, `batch_expired` and `batch_cancelled`, and how its copies vary them. */
const expired = /^(batch_|job_|request_)?expired$/i;
const cancelled = /^(batch_|job_|request_)?cancell?ed$/i;

/** One line of an output or error file. A line is judged by its status first, then by `error`. */
export function readResultLine(
  line: string,
  requestIdHeader: string,
  judge: ReplyJudge = judgeOpenAI,
): Row {
  const parsed = parseJson(line);
  const { custom_id: customId, response, error } = fields(parsed);
  const id = text(customId);
  if (id === undefined) return { broken: line.slice(0, 200) };

  const { status_code: code, request_id: requestId, body: json } = fields(response);
  const status = statusOf(code);
  // Status 0 or none is a transport failure inside the provider; an empty 200 has been seen, too.
  if (isHttpStatus(status) && (status >= 300 || !isEmpty(json))) {
    return {
      id,
      outcome: outcomeOf(
        {
          status,
          headers: answerHeaders(requestIdHeader, requestId),
          body: bodyText(line, parsed as object, response as object),
          json,
        },
        judge,
      ),
    };
  }
  return { id, outcome: neverRan(error, status) };
}

/** Copies of OpenAI write numbers as strings. */
function statusOf(value: unknown): unknown {
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}

/** One that a response can have. */
function isHttpStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599;
}

/** The body's own text: sliced out of a compact line, looked for in any other. */
function bodyText(line: string, parsed: object, response: object): string {
  const { id, custom_id: customId } = parsed as Record<string, unknown>;
  const { status_code: status, request_id: requestId } = response as Record<string, unknown>;
  // An id that would have to be escaped is looked for like everything that is not usual.
  const start =
    `{"id":"${id}","custom_id":"${customId}","response":` +
    `{"status_code":${status},"request_id":${requestId === null ? null : `"${requestId}"`},"body":`;
  const compact =
    line.startsWith(start) &&
    line.endsWith(usualEnd) &&
    Object.keys(parsed).length === 4 &&
    Object.keys(response).length === 3;
  if (compact) return line.slice(start.length, -usualEnd.length);
  return memberText(memberText(line, 'response') ?? '{}', 'body') ?? 'null';
}

function neverRan(error: unknown, status: unknown) {
  const code =
    text(field(error, 'code')) ?? (status === undefined ? 'missing' : `status_${status}`);
  const message =
    text(field(error, 'message')) ?? `The provider did not run this request (${code}).`;
  const reason = expired.test(code) ? 'expired' : cancelled.test(code) ? 'cancelled' : 'never-ran';
  const last: Answer = {
    status: 502,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type: 'server_error', param: null, code } }),
  };
  return { kind: 'retry', reason, last } as const;
}
