import { field, fields, isObject, text } from '../../base/json.ts';
import type { Counts, Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { BatchFailure, Remote } from '../batcher.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { idOf, type ListPage, listPage } from '../shared/reply-shapes.ts';
import { judgeGoogle } from './google-judge.ts';
import { errorAnswer } from './google-status.ts';

/** The id of `batches/abc` is `abc`. */
function bareId(operation: unknown): string | undefined {
  return text(field(operation, 'name'))?.split('/').pop();
}

/** One page of operations. An empty list is `{}`: empty members are left out of Google's JSON. */
export function readPage(body: unknown): ListPage {
  return pageOf(body, 'operations', bareId);
}

/** A page of Google's, whose list has this name. */
export function pageOf(
  body: unknown,
  list: string,
  idIn: (batch: unknown) => string | undefined,
): ListPage {
  const { [list]: batches, nextPageToken, ...others } = fields(body);
  const isNone = batches === undefined && isObject(body) && Object.keys(others).length === 0;
  const listed = isNone ? [] : batches;
  const data = Array.isArray(listed)
    ? listed.map((batch) => ({ ...fields(batch), id: idIn(batch) }))
    : undefined;
  return { batches: listPage({ data }).batches, next: text(nextPageToken) };
}

/** How a state is written: `BATCH_STATE_RUNNING` on the wire, `JOB_STATE_RUNNING` in documentation. */
const prefix = /^(?:BATCH|JOB)_STATE_/;
export const ended: ReadonlySet<string> = new Set([
  'succeeded',
  'partially_succeeded',
  'failed',
  'cancelled',
  'expired',
]);
const waiting = new Set(['unspecified', 'pending', 'queued']);

/** A batch, which is a long-running operation, in our words. */
export function toRemote(operation: unknown, wire: Pick<Wire, 'redact'>): Remote {
  const id = idOf({ id: bareId(operation) }, 'a batch');
  const { metadata, error, done } = fields(operation);
  const raw = text(field(metadata, 'state')) ?? 'unknown';
  const word = raw.replace(prefix, '').toLowerCase();
  const status = ended.has(word) || done !== true ? word : error ? 'failed' : 'succeeded';
  const isEnded = ended.has(status);
  const sources = isEnded ? sourcesOf(operation) : {};
  const counts = countsOf(field(metadata, 'batchStats'));
  const isLost = status === 'cancelled' || status === 'expired';
  const hasOutput = Object.keys(sources).length > 0;
  return {
    id,
    state: isEnded ? 'ended' : stateOf(status),
    raw,
    // Without an output there is nothing to read, whatever the counts say of what has run.
    readable: hasOutput,
    sources,
    ...(counts && { counts }),
    ...(status === 'failed' &&
      !hasOutput && { failure: failureOf(error, wire, judgeGoogle, 'batch') }),
    // The output may be attached a little later than the end.
    ...(isEnded && status !== 'failed' && !isLost && !hasOutput && { incomplete: true }),
    ...(isLost && { unfinished: status }),
  };
}

/** Words that nobody knows are not terminal: a new state must not end a batch. */
export function stateOf(status: string): Remote['state'] {
  if (status === 'cancelling') return 'cancelling';
  return waiting.has(status) ? 'queued' : 'running';
}

/** The answers: a file, or a list in the operation itself. `response` and `metadata.output` say the same. */
function sourcesOf(operation: unknown): Handle {
  for (const output of [
    field(operation, 'response'),
    field(field(operation, 'metadata'), 'output'),
  ]) {
    const file = text(field(output, 'responsesFile'));
    if (file !== undefined) return { file };
    if (listNames.some((name) => Array.isArray(field(field(output, name), listInside)))) {
      return { inline: 'true' };
    }
  }
  return {};
}

/** Under which names answers stand in an operation; a list of one of them is in `inlinedResponses`. */
export const listNames = ['inlinedResponses', 'inlinedEmbedContentResponses'] as const;
export const listInside = 'inlinedResponses';

/** Numbers of 64 bits are texts, and zeros are left out. */
function countsOf(stats: unknown): Counts | undefined {
  if (typeof stats !== 'object' || stats === null) return undefined;
  return {
    total: int64(field(stats, 'requestCount')),
    completed: int64(field(stats, 'successfulRequestCount')),
    failed: int64(field(stats, 'failedRequestCount')),
  };
}

export function int64(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : 0;
}

/** What failed as a whole has no answers. Quota that others used up will be there again. `what`: `batch`. */
export function failureOf(
  error: unknown,
  wire: Pick<Wire, 'redact'>,
  judge: ReplyJudge,
  what: string,
): BatchFailure {
  const given = errorAnswer(error);
  const answer = { ...given, body: wire.redact(given.body) };
  const message = text(field(error, 'message')) ?? `The ${what} failed without a reason.`;
  const isFull = judge({ ...given, message }).meaning === 'full';
  return {
    code: `rpc_${String(field(error, 'code') ?? 'unknown')}`,
    message: wire.redact(message),
    meaning: isFull ? 'full' : 'refused',
    next: isFull ? 'later' : 'fail',
    answer,
  };
}
