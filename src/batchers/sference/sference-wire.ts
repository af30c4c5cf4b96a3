import { field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { BatchFailure, Outcome, Remote, Row } from '../batcher.ts';
import { memberText } from '../shared/json-text.ts';
import { outcomeOf } from '../shared/outcomes.ts';
import { idOf } from '../shared/reply-shapes.ts';
import { statusByWords } from '../shared/status-by-words.ts';

const content = { 'content-type': 'application/json' };
const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** sference's batch object in our words. A failed batch has no error of its own: its results may have some. */
export function toRemote(batch: unknown): Remote {
  const raw = text(field(batch, 'status')) ?? 'unknown';
  const status = raw.toLowerCase();
  const isEnded = ended.has(status);
  return {
    id: idOf(batch, 'a batch'),
    state: isEnded ? 'ended' : status === 'pending' ? 'queued' : 'running',
    raw,
    readable: isEnded,
    sources: {},
    ...(status === 'cancelled' && { unfinished: 'cancelled' }),
  };
}

/** One line of the results. */
export function readResultLine(line: string): Row {
  const parsed = parseJson(line);
  const id = text(field(parsed, 'custom_id'));
  if (id === undefined) return { broken: line.slice(0, 200) };
  return { id, outcome: outcome(line, parsed) };
}

function outcome(line: string, parsed: unknown): Outcome {
  const { status, result_json: json, error_json: error } = fields(parsed);
  const word = text(status)?.toLowerCase();
  const body = memberText(line, 'result_json');
  if (word === 'completed' && !isEmpty(json) && body !== undefined) {
    return { kind: 'answer', answer: { status: 200, headers: content, body, json } };
  }
  if (word === 'failed') {
    const told = detailOf(error) ?? 'The request failed without a reason.';
    return outcomeOf(failed(statusOf(error) ?? statusByWords(told), told));
  }
  const last = failed(502, `The provider did not run this request: it is ${word}.`);
  return { kind: 'retry', reason: word === 'cancelled' ? 'cancelled' : 'never-ran', last };
}

/** Errors of rows are documented with `detail` alone; elsewhere a status stands beside it. */
function statusOf(error: unknown): number | undefined {
  const status = field(error, 'status_code');
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599
    ? (status as number)
    : undefined;
}

function detailOf(error: unknown): string | undefined {
  return text(error) ?? text(field(error, 'detail')) ?? text(field(error, 'message'));
}

function failed(status: number, detail: string): Answer {
  const body = { status_code: status, detail, error: errorMember('sference_error', detail) };
  return { status, headers: content, body: JSON.stringify(body) };
}

/** The member that OpenAI's SDK shows. It stands beside sference's own `detail`, which that SDK does not read. */
export function errorMember(type: string, message: string) {
  return { message, type, param: null, code: type };
}

/** A refusal whose reason OpenAI's SDK shows, too. */
export function withSdkError(failure: BatchFailure): BatchFailure {
  const tell = (answer: Answer): Answer => {
    const body = fields(parseJson(answer.body));
    if (body.error !== undefined || text(body.detail) === undefined) return answer;
    const error = errorMember('sference_error', failure.message);
    return { ...answer, body: JSON.stringify({ ...body, error }) };
  };
  const { answer, bad } = failure;
  return {
    ...failure,
    ...(answer && { answer: tell(answer) }),
    ...(bad && { bad: bad.map((one) => ({ ...one, answer: tell(one.answer) })) }),
  };
}
