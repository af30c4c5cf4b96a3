import type { Answer } from '../types.ts';
import type { Row } from './batcher.ts';
import { memberText } from './json-text.ts';
import { answerHeaders, field, outcomeOf, text } from './outcomes.ts';

/** How the line ends when it was written compactly in the documented order. */
const usualEnd = '},"error":null}';

/** One line of an output or error file. A line is judged by its status first, then by `error`. */
export function readResultLine(line: string, requestIdHeader: string): Row {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return { broken: line.slice(0, 200) };
  }
  const id = text(field(parsed, 'custom_id'));
  if (id === undefined) return { broken: line.slice(0, 200) };

  const response = field(parsed, 'response');
  const status = field(response, 'status_code');
  const json = field(response, 'body');
  // Status 0 or none is a transport failure inside the provider; an empty 200 has been seen, too.
  if (typeof status === 'number' && status >= 100 && !isEmpty(json)) {
    return {
      id,
      outcome: outcomeOf({
        status,
        headers: answerHeaders(requestIdHeader, field(response, 'request_id')),
        body: bodyText(line, parsed as object, response as object),
        json,
      }),
    };
  }
  return { id, outcome: neverRan(field(parsed, 'error'), status) };
}

function isEmpty(json: unknown): boolean {
  return typeof json !== 'object' || json === null || Object.keys(json).length === 0;
}

/**
 * The body's own text. `"body":` cannot occur inside a JSON string (its second quote would be
 * escaped), so where `body` is the last member of `response` and only `error` follows, it lies
 * between the first `"body":` and the usual end.
 */
function bodyText(line: string, parsed: object, response: object): string {
  const usual =
    line.endsWith(usualEnd) &&
    Object.keys(response).at(-1) === 'body' &&
    Object.keys(parsed).at(-2) === 'response' &&
    !('body' in parsed);
  if (usual) return line.slice(line.indexOf('"body":') + 7, -usualEnd.length);
  return memberText(memberText(line, 'response') ?? '{}', 'body') ?? 'null';
}

function neverRan(error: unknown, status: unknown) {
  const code =
    text(field(error, 'code')) ?? (status === undefined ? 'missing' : `status_${status}`);
  const message =
    text(field(error, 'message')) ?? `The provider did not run this request (${code}).`;
  const reason =
    code === 'batch_expired' ? 'expired' : code === 'batch_cancelled' ? 'cancelled' : 'never-ran';
  const last: Answer = {
    status: 502,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type: 'server_error', param: null, code } }),
  };
  return { kind: 'retry', reason, last } as const;
}
