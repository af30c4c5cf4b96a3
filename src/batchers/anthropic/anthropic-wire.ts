import { count, field, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer, Dict, Handle } from '../../base/types.ts';
import type { Outcome, Remote, Row } from '../batcher.ts';
import { memberText } from '../shared/json-text.ts';
import { answerHeaders, outcomeOf } from '../shared/outcomes.ts';
import { idOf } from '../shared/reply-shapes.ts';
import { judgeAnthropic } from './anthropic-judge.ts';

/** Looking at batches needs a version, whichever: an account has batches of all of them. */
const anyVersion = '2023-06-01';

/**
 * What later requests about a batch need: its results are read under the version it was created with. Tokens of
 * OAuth are taken with a beta of theirs only, which their calls carry; other betas are for the create alone.
 */
export function handleOf(batchHeaders: Dict): Handle {
  const betas = batchHeaders['anthropic-beta']?.split(',') ?? [];
  const ofToken = betas.filter((beta) => beta.startsWith('oauth-')).join(',');
  const version = batchHeaders['anthropic-version'] ?? '';
  return ofToken === '' ? { version } : { version, betas: ofToken };
}

export function readingHeaders({ version = anyVersion, betas }: Handle): Dict {
  return { 'anthropic-version': version, ...(betas !== undefined && { 'anthropic-beta': betas }) };
}

/** The batch with what its handle says of reading it among its sources. */
export function readAs(remote: Remote, { version, betas }: Handle): Remote {
  const reading = {
    ...(version !== undefined && { version }),
    ...(betas !== undefined && { betas }),
  };
  return { ...remote, sources: { ...remote.sources, ...reading } };
}

/** The version and the betas are fixed for a whole batch. Their order means nothing. */
export function headersOfBatch(headers: Dict): Dict {
  const version = headers['anthropic-version'] ?? anyVersion;
  const betas = (headers['anthropic-beta'] ?? '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '')
    .sort();
  return betas.length > 0
    ? { 'anthropic-version': version, 'anthropic-beta': [...new Set(betas)].join(',') }
    : { 'anthropic-version': version };
}

/** Anthropic's batch object in our words. `ended` is the only terminal state. */
export function toRemote(batch: unknown): Remote {
  const id = idOf(batch, 'a batch');
  const status = text(field(batch, 'processing_status')) ?? 'unknown';
  const counts = field(batch, 'request_counts');
  const number = (name: string) => count(field(counts, name));
  const failed = number('errored') + number('canceled') + number('expired');
  const url = text(field(batch, 'results_url'));
  const archivedAt = text(field(batch, 'archived_at'));
  const isEnded = status === 'ended';
  const isArchived = isEnded && archivedAt !== undefined;
  return {
    id,
    state: isEnded ? 'ended' : status === 'canceling' ? 'cancelling' : 'running',
    raw: status,
    readable: isEnded && !isArchived && url !== undefined,
    sources: url === undefined ? {} : { url },
    // The URL may come a little later, unless the results are thrown away by now.
    ...(isEnded && !isArchived && url === undefined && { incomplete: true }),
    ...(isArchived && { lost: lostSince(archivedAt) }),
    ...(counts !== null &&
      counts !== undefined && {
        counts: {
          total: number('processing') + number('succeeded') + failed,
          completed: number('succeeded'),
          failed,
        },
      }),
  };
}

function lostSince(archivedAt: string): string {
  return (
    `Anthropic archived the results of this batch at ${archivedAt}: it keeps them for 29 days ` +
    'after the creation of a batch, and they can no longer be read.'
  );
}

const statusOfError: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

/** The HTTP statuses of types of errors, and the types that statuses usually have. */
export const errorStatus = {
  of: (type: string | undefined): number | undefined =>
    type === undefined ? undefined : statusOfError[type],
  typeFor: (status: number): string => {
    const known = Object.entries(statusOfError).find(([, one]) => one === status)?.[0];
    return known ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  },
};

/** One line of the results: succeeded, errored, canceled or expired. */
export function readResultLine(line: string): Row {
  const parsed = parseJson(line);
  const id = text(field(parsed, 'custom_id'));
  const result = field(parsed, 'result');
  if (id === undefined) return { broken: line.slice(0, 200) };
  return { id, outcome: outcome(line, parsed, result) };
}

function outcome(line: string, parsed: unknown, result: unknown): Outcome {
  const type = text(field(result, 'type')) ?? 'unknown';
  const message = field(result, 'message');
  if (type === 'succeeded' && !isEmpty(message)) {
    return {
      kind: 'answer',
      answer: {
        status: 200,
        headers: answerHeaders('request-id', undefined),
        body: messageText(line, parsed, result),
        json: message,
      },
    };
  }
  if (type === 'errored') return errored(line, field(result, 'error'));
  if (type === 'expired') {
    return { kind: 'retry', reason: 'expired', last: failure(504, 'timeout_error', type) };
  }
  if (type === 'canceled') {
    return { kind: 'retry', reason: 'cancelled', last: failure(499, 'api_error', type) };
  }
  return { kind: 'retry', reason: 'never-ran', last: failure(502, 'api_error', type) };
}

/** The message's own text: sliced out of a compact line, looked for in any other. */
function messageText(line: string, parsed: unknown, result: unknown): string {
  const { custom_id: id } = parsed as { custom_id: string };
  const start = `{"custom_id":${JSON.stringify(id)},"result":{"type":"succeeded","message":`;
  const compact =
    line.startsWith(start) &&
    line.endsWith('}}') &&
    Object.keys(parsed as object).length === 2 &&
    Object.keys(result as object).length === 2;
  if (compact) return line.slice(start.length, -2);
  return memberText(memberText(line, 'result') ?? '{}', 'message') ?? 'null';
}

function errored(line: string, error: unknown): Outcome {
  const type = text(field(field(error, 'error'), 'type')) ?? 'api_error';
  const inner = isEmpty(error)
    ? undefined
    : memberText(memberText(line, 'result') ?? '{}', 'error');
  const answer: Answer = {
    status: statusOfError[type] ?? 500,
    headers: answerHeaders('request-id', field(error, 'request_id')),
    body: inner ?? failure(500, 'api_error', 'errored').body,
  };
  return outcomeOf(answer, judgeAnthropic);
}

function failure(status: number, type: string, word: string): Answer {
  const message = `The provider did not run this request: it is ${word}.`;
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'error', error: { type, message } }),
  };
}
