import { fields, text } from '../../base/json.ts';
import type { Row } from '../batcher.ts';
import { readResultLine } from '../openai/openai-results.ts';
import { memberText } from '../shared/json-text.ts';
import { judgeByStatus } from '../shared/judge-reply.ts';
import { answerHeaders } from '../shared/outcomes.ts';
import { mistralError } from './mistral-error.ts';
import { mistralInfo } from './mistral-info.ts';

/**
 * One line of an output or error file. With a status it is OpenAI's line without a request id. How a line
 * without one looks is not documented: `error` as a text or an object, and FastAPI's `detail` were seen.
 */
export function readMistralLine(line: string): Row {
  const row = readResultLine(line, mistralInfo.requestIdHeader, judgeByStatus);
  if (!('id' in row) || row.outcome.kind !== 'retry' || hasRun(row.outcome.reason)) return row;
  const { error, detail } = fields(JSON.parse(line));
  if (Array.isArray(detail)) return { id: row.id, outcome: refused(line) };
  const { message, type } = fields(error);
  const told = text(message) ?? text(error) ?? text(detail);
  const { last } = row.outcome;
  const body = mistralError(
    text(type) ?? 'server_error',
    told ?? 'The provider did not run this request.',
  );
  return { id: row.id, outcome: { ...row.outcome, last: { ...last, body } } };
}

/** Whether the request ran: its status says so. */
function hasRun(reason: string): boolean {
  return reason === 'rate-limit' || reason === 'server';
}

/** What is wrong with a request is not better next time. */
function refused(line: string) {
  const body = `{"detail":${memberText(line, 'detail')}}`;
  const headers = answerHeaders(mistralInfo.requestIdHeader, undefined);
  return { kind: 'answer', answer: { status: 422, headers, body } } as const;
}
