import { UnknownOutcomeError } from '../errors.ts';
import type { Answer } from '../types.ts';
import type { BatchFailure, Remote } from './batcher.ts';
import { count, field, text } from './outcomes.ts';

const ended = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Unknown words are not terminal: a new status of the provider must not end a batch. */
function stateOf(status: string): Remote['state'] {
  if (ended.has(status)) return 'ended';
  if (status === 'cancelling' || status === 'finalizing') return status;
  return status === 'validating' ? 'queued' : 'running';
}

/** OpenAI's batch object in our words. */
export function toRemote(batch: unknown): Remote {
  const id = text(field(batch, 'id'));
  if (id === undefined) {
    throw new UnknownOutcomeError('The provider sent a batch without an id.');
  }
  const status = text(field(batch, 'status')) ?? 'unknown';
  const state = stateOf(status.toLowerCase());
  const counts = field(batch, 'request_counts');
  const output = text(field(batch, 'output_file_id'));
  const errors = text(field(batch, 'error_file_id'));
  const failure =
    state === 'ended' && output === undefined && errors === undefined
      ? failureOf(status.toLowerCase(), field(batch, 'errors'))
      : undefined;
  return {
    id,
    state,
    raw: status,
    readable: state === 'ended',
    sources: { ...(output && { output }), ...(errors && { errors }) },
    ...(counts !== null &&
      counts !== undefined && {
        counts: {
          total: count(field(counts, 'total')),
          completed: count(field(counts, 'completed')),
          failed: count(field(counts, 'failed')),
        },
      }),
    ...(failure && { failure }),
    ...(isIncomplete(status.toLowerCase(), counts, output, errors) && { incomplete: true }),
    ...(/^(expired|cancelled)$/i.test(status) && {
      unfinished: status.toLowerCase() as 'expired' | 'cancelled',
    }),
  };
}

/**
 * Ids of result files are known to come a little later than the end. Counts are no proof that there
 * are none: copies of OpenAI send null or zeros. A completed batch has a file at least, and one that
 * ended early may have, unless it says that nothing was completed.
 */
function isIncomplete(
  status: string,
  counts: unknown,
  output: string | undefined,
  errors: string | undefined,
): boolean {
  if (!ended.has(status) || output !== undefined) return false;
  const completed = field(counts, 'completed');
  if (count(completed) > 0) return true;
  if (errors !== undefined || status === 'failed') return false;
  return status === 'completed' ? field(counts, 'total') !== 0 : typeof completed !== 'number';
}

/** `errors` is `{ data: [...] }` at OpenAI, a bare array or a string at its copies. */
function failureOf(status: string, errors: unknown): BatchFailure | undefined {
  if (status !== 'failed') return undefined;
  const data = Array.isArray(errors) ? errors : field(errors, 'data');
  const all: readonly unknown[] = Array.isArray(data) && data.length > 0 ? data : [errors];
  const { code, message, answer } = readError(all[0]);
  const bad = all.flatMap((error) => {
    const line = field(error, 'line');
    return typeof line === 'number' ? [{ line, answer: readError(error).answer }] : [];
  });
  const limit = namedLimit(message);
  const common = { code, message, answer };
  if (code === 'token_limit_exceeded') {
    return { ...common, next: 'later', ...(limit !== undefined && { limit }) };
  }
  if (code === 'too_many_tasks') return { ...common, next: 'smaller' };
  return bad.length > 0 ? { ...common, next: 'isolate', bad } : { ...common, next: 'fail' };
}

function readError(error: unknown) {
  const code = text(field(error, 'code')) ?? 'batch_failed';
  const message =
    text(field(error, 'message')) ??
    text(error) ??
    'The provider refused the batch without a reason.';
  const param = text(field(error, 'param')) ?? null;
  const answer: Answer = {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } }),
  };
  return { code, message, answer };
}

/** "… Limit: 90,000 enqueued tokens. …" */
function namedLimit(message: string): number | undefined {
  const digits = /limit:\s*(\d[\d,_]*)/i.exec(message)?.[1]?.replace(/\D/g, '');
  return digits === undefined ? undefined : Number(digits);
}
