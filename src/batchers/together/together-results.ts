import { field, parseJson, text } from '../../base/json.ts';
import type { Row } from '../batcher.ts';
import { readResultLine } from '../openai/openai-results.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { answerHeaders, outcomeOf } from '../shared/outcomes.ts';

/**
 * The status that an error would have had online, by its words; the first that fits counts. Words for what
 * may pass come first: to try again what is hopeless costs little, to give up what is not costs an answer.
 */
const statusWords: readonly (readonly [words: RegExp, status: number])[] = [
  [/rate.?limit|too.?many.?requests/i, 429],
  [/time.?out|timed.?out/i, 504],
  [/overload|unavailable|temporar/i, 503],
  [/internal|server.?error/i, 500],
  [/api.?key|unauthorized|unauthenticated|authentication/i, 401],
  [/permission|forbidden/i, 403],
  [/not.?found|does not exist/i, 404],
  [/conflict/i, 409],
  [/too.?large/i, 413],
  [/unprocessable/i, 422],
  [/invalid|malformed|unsupported|not supported|bad.?request|too.?long|context.?length/i, 400],
];

/** One line of a result file. An error line has a message and a code, but no status. */
export function readTogetherLine(line: string, requestIdHeader: string, judge: ReplyJudge): Row {
  const row = readResultLine(line, requestIdHeader, judge);
  if (!('id' in row) || row.outcome.kind !== 'retry' || row.outcome.reason !== 'never-ran') {
    return row;
  }
  const error = field(parseJson(line), 'error');
  const code = codeOf(error);
  const message = text(field(error, 'message')) ?? text(error) ?? '';
  const status = numberOf(code) ?? statusOf(code) ?? statusOf(message);
  if (status === undefined) return row;
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  const body = JSON.stringify({ error: { message, type, param: null, code: code || null } });
  const answer = { status, headers: answerHeaders(requestIdHeader, undefined), body };
  return { id: row.id, outcome: outcomeOf(answer, judge) };
}

function codeOf(error: unknown): string {
  const code = field(error, 'code');
  return typeof code === 'number' ? String(code) : (text(code) ?? '');
}

/** A code that is a status itself. */
function numberOf(code: string): number | undefined {
  return /^[45]\d\d$/.test(code) ? Number(code) : undefined;
}

function statusOf(words: string): number | undefined {
  return statusWords.find(([pattern]) => pattern.test(words))?.[1];
}
