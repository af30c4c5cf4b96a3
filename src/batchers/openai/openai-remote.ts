import { count, field, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { BatchFailure, Remote } from '../batcher.ts';
import { idOf } from '../shared/reply-shapes.ts';

/** OpenAI's words for the states of a batch. */
export type OpenAIStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';

/**
 * A copy's own words, in lower case, by what OpenAI calls the same. Words that are the same at both need
 * not be named.
 *
 * @example
 * const statuses: StatusWords = { queued: 'validating', success: 'completed', timeout: 'expired' };
 */
export type StatusWords = Readonly<Record<string, OpenAIStatus>>;

const ended = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Unknown words are not terminal: a new status of the provider must not end a batch. */
function stateOf(status: string): Remote['state'] {
  if (ended.has(status)) return 'ended';
  if (status === 'cancelling' || status === 'finalizing') return status;
  return status === 'validating' ? 'queued' : 'running';
}

/** A provider may echo a credential in what it tells people, and that gets into events and files. */
type Redactor = Pick<Wire, 'redact'>;

/** OpenAI's batch object in our words. */
export function toRemote(batch: unknown, wire: Redactor, words: StatusWords = {}): Remote {
  const id = idOf(batch, 'a batch');
  const raw = text(field(batch, 'status')) ?? 'unknown';
  // Copies spell it in either way, and a batch that was `canceled` must not be thought to run.
  const word = raw.toLowerCase().replace(/^cancel(ed|ing)$/, 'cancell$1');
  const status = Object.hasOwn(words, word) ? (words[word] as OpenAIStatus) : word;
  const state = stateOf(status);
  const counts = countsIn(batch);
  const output = text(field(batch, 'output_file_id'));
  const errors = text(field(batch, 'error_file_id'));
  const failure =
    state === 'ended' && output === undefined && errors === undefined
      ? failureOf(status, field(batch, 'errors'), wire)
      : undefined;
  return {
    id,
    state,
    raw,
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
    ...(isIncomplete(status, counts, output, errors) && { incomplete: true }),
    ...((status === 'expired' || status === 'cancelled') && { unfinished: status }),
  };
}

/** Copies of OpenAI write the counts beside the status. */
function countsIn(batch: unknown): unknown {
  const isFlat = typeof field(batch, 'total') === 'number';
  return field(batch, 'request_counts') ?? (isFlat ? batch : undefined);
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
  if (status === 'failed') return false;
  const isCounted = typeof completed === 'number';
  // Without counts only the lines of an error file show whether it is all there is.
  if (isCounted && errors !== undefined) return false;
  return status === 'completed' ? field(counts, 'total') !== 0 : !isCounted;
}

/** `errors` is `{ data: [...] }` at OpenAI, a bare array or a string at its copies. */
function failureOf(status: string, errors: unknown, wire: Redactor): BatchFailure | undefined {
  if (status !== 'failed') return undefined;
  const data = Array.isArray(errors) ? errors : field(errors, 'data');
  const all: readonly unknown[] = Array.isArray(data) && data.length > 0 ? data : [errors];
  const first = all[0];
  const common = tell(first, wire);
  const bad = all.flatMap((error) => {
    const line = field(error, 'line');
    return typeof line === 'number' ? [{ line, answer: tell(error, wire).answer }] : [];
  });
  // Judged as it came: a short key may well be part of the provider's own words.
  const code = codeOf(first);
  if (code === 'token_limit_exceeded') {
    const limit = namedLimit(messageIn(first));
    return { ...common, meaning: 'full', next: 'later', ...(limit !== undefined && { limit }) };
  }
  // Requests to embed have a limit of their own, which is no number of tokens; its code is documented nowhere.
  if (/\benqueued\b.*\blimit\b/i.test(messageIn(first))) {
    return { ...common, meaning: 'full', next: 'later' };
  }
  if (code === 'too_many_tasks') return { ...common, next: 'smaller' };
  // OpenAI names the first line only, but all lines of a batch ask for the same model.
  if (code === 'model_not_found') return { ...common, next: 'fail' };
  return bad.length > 0 ? { ...common, next: 'isolate', bad } : { ...common, next: 'fail' };
}

function codeOf(error: unknown): string {
  return text(field(error, 'code')) ?? 'batch_failed';
}

function messageIn(error: unknown): string {
  return (
    text(field(error, 'message')) ??
    text(error) ??
    'The provider refused the batch without a reason.'
  );
}

/** An error of the list, for people. */
function tell(error: unknown, wire: Redactor) {
  const code = wire.redact(codeOf(error));
  const message = wire.redact(messageIn(error));
  const param = wire.redact(text(field(error, 'param')) ?? '') || null;
  const answer: Answer = {
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } }),
  };
  return { code, message, meaning: 'refused' as const, answer };
}

/** "… Limit: 90,000 enqueued tokens. …" */
function namedLimit(message: string): number | undefined {
  const digits = /limit:\s*(\d[\d,_]*)/i.exec(message)?.[1]?.replace(/\D/g, '');
  return digits === undefined ? undefined : Number(digits);
}
