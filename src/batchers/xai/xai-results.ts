import { field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Outcome, Row } from '../batcher.ts';
import { elementTexts, memberText } from '../shared/json-text.ts';
import { outcomeOf } from '../shared/outcomes.ts';
import { rpcStatus } from '../shared/rpc-status.ts';
import { statusByWords } from '../shared/status-by-words.ts';
import { judgeXai } from './xai-judge.ts';
import { cancelledAnswer } from './xai-remote.ts';

const content = { 'content-type': 'application/json' };

/** One page of results, and where the next one begins. */
interface ResultPage {
  readonly rows: readonly Row[];
  readonly next?: string | undefined;
  /** The reply was no page of results. */
  readonly isGarbled: boolean;
}

/** `cancelledBecause`: why xAI itself has cancelled the batch, which callers of cancelled requests are told. */
export function readResultPage(body: string, cancelledBecause?: string): ResultPage {
  const page = fields(parseJson(body));
  if (!Array.isArray(page.results)) return { rows: [], isGarbled: body !== '' };
  const texts = elementTexts(memberText(body, 'results') ?? '[]');
  const rows = page.results.map((row: unknown, at) =>
    readRow(row, texts[at] ?? '', cancelledBecause),
  );
  return { rows, next: text(page.pagination_token), isGarbled: false };
}

function readRow(row: unknown, rowText: string, cancelledBecause: string | undefined): Row {
  const id = text(field(row, 'batch_request_id'));
  if (id === undefined) return { broken: rowText.slice(0, 200) };
  const result = field(row, 'batch_result');
  const failure = failureIn(field(result, 'error'), field(row, 'error_message'));
  if (failure?.isCancelled) {
    const answer = cancelledBecause === undefined ? undefined : cancelledAnswer(cancelledBecause);
    if (answer) return { id, outcome: { kind: 'answer', answer } };
    return { id, outcome: { kind: 'retry', reason: 'cancelled', last: failure.answer } };
  }
  if (failure) return { id, outcome: outcomeOf(failure.answer, judgeXai) };
  return { id, outcome: answered(result, rowText) };
}

interface RowFailure {
  readonly answer: Answer;
  readonly isCancelled?: boolean;
}

/**
 * The documentation shows a gRPC status, whose code 0 may stand beside a success; the service has been seen to
 * send a bare text.
 */
function failureIn(error: unknown, errorMessage: unknown): RowFailure | undefined {
  const bare = text(error);
  if (bare !== undefined) {
    const isCancelled = /^(batch )?cancell?ed\b/i.test(bare);
    return { answer: failed(statusByWords(bare), bare), isCancelled };
  }
  const code = numberOf(field(error, 'code')) ?? 0;
  const message = text(errorMessage) ?? text(field(error, 'message'));
  if (code === 0) {
    // An OK has no message.
    return message === undefined ? undefined : { answer: failed(statusByWords(message), message) };
  }
  const { status, name } = rpcStatus(code);
  const told = message ?? `The request failed (${name}).`;
  return { answer: failed(status, told, name), isCancelled: code === 1 };
}

function answered(result: unknown, rowText: string): Outcome {
  const json = field(field(result, 'response'), 'chat_get_completion');
  const response = memberText(memberText(rowText, 'batch_result') ?? '{}', 'response');
  const body = memberText(response ?? '{}', 'chat_get_completion');
  if (isEmpty(json) || body === undefined) {
    const last = failed(502, 'The provider did not run this request.');
    return { kind: 'retry', reason: 'never-ran', last };
  }
  const { error, code, choices } = fields(json);
  // An error inside of a "success".
  const hidden = text(error) ?? text(field(error, 'message'));
  if (hidden !== undefined && choices === undefined) {
    const word = text(code) ?? text(field(error, 'code'));
    const status = statusByWords(`${word ?? ''} ${hidden}`);
    return outcomeOf({ status, headers: content, body }, judgeXai);
  }
  return { kind: 'answer', answer: { status: 200, headers: content, body, json } };
}

/** An error in xAI's own shape. */
function failed(status: number, error: string, code?: string): Answer {
  return { status, headers: content, body: JSON.stringify({ ...(code && { code }), error }) };
}

function numberOf(code: unknown): number | undefined {
  if (typeof code === 'string' && /^\d+$/.test(code)) return Number(code);
  return typeof code === 'number' ? code : undefined;
}
