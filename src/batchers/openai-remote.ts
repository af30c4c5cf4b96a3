import { UnknownOutcomeError } from '../errors.ts';
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
    ...(/^(expired|cancelled)$/i.test(status) && {
      unfinished: status.toLowerCase() as 'expired' | 'cancelled',
    }),
  };
}

/** `errors` is `{ data: [...] }` at OpenAI, a bare array or a string at its copies. */
function failureOf(status: string, errors: unknown): BatchFailure | undefined {
  if (status !== 'failed') return undefined;
  const data = Array.isArray(errors) ? errors : field(errors, 'data');
  const first: unknown = Array.isArray(data) ? data[0] : errors;
  const code = text(field(first, 'code')) ?? 'batch_failed';
  const message =
    text(field(first, 'message')) ??
    text(first) ??
    'The provider refused the batch without a reason.';
  const line = field(first, 'line');
  return {
    code,
    message,
    next: nextStep(code, line),
    ...(typeof line === 'number' && { line }),
    answer: {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        error: {
          message,
          type: 'invalid_request_error',
          param: text(field(first, 'param')) ?? null,
          code,
        },
      }),
    },
  };
}

function nextStep(code: string, line: unknown): BatchFailure['next'] {
  if (code === 'token_limit_exceeded') return 'later';
  if (code === 'too_many_tasks') return 'smaller';
  return typeof line === 'number' ? 'isolate' : 'fail';
}
