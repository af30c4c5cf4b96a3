import { fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Row } from '../batcher.ts';
import { readResultLine } from '../openai/openai-results.ts';
import { memberText } from '../shared/json-text.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { answerHeaders, outcomeOf } from '../shared/outcomes.ts';
import { statusByWords } from '../shared/status-by-words.ts';

/** One line of a dataset of results: a completion as it is, or an error, whose status may have to be guessed. */
export function readFireworksLine(line: string, requestIdHeader: string, judge: ReplyJudge): Row {
  const { custom_id: id, response, error } = fields(parseJson(line));
  if (typeof id !== 'string' || id === '') return { broken: line.slice(0, 200) };
  const headers = answerHeaders(requestIdHeader, undefined);
  // A response with a status is OpenAI's line, which would say more than this one does.
  if (!isEmpty(response) && !('status_code' in fields(response))) {
    const body = memberText(line, 'response') ?? 'null';
    return { id, outcome: outcomeOf({ status: 200, headers, body, json: response }, judge) };
  }
  const { message = error, code } = fields(error);
  const told = text(message);
  if (told === undefined) return readResultLine(line, requestIdHeader, judge);
  const status = statusOf(code) ?? statusByWords(`${text(code) ?? ''} ${told}`);
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const body = JSON.stringify({ error: { message: told, type, param: null, code: code ?? null } });
  return { id, outcome: outcomeOf({ status, headers, body }, judge) };
}

/** A code that is an HTTP status. */
function statusOf(code: unknown): number | undefined {
  const status = Number(code);
  return Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}
