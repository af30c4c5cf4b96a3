import { UnknownOutcomeError } from '../../base/errors.ts';
import { count, field, fields, isEmpty, parseJson, text } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';
import type { Wire, WireReply } from '../../http/wire.ts';
import { wireAt } from '../../http/wire-at.ts';
import { errorStatus } from '../anthropic/anthropic-wire.ts';
import type { BatchFailure, Outcome, Remote, Row } from '../batcher.ts';
import { readResultLine } from '../openai/openai-results.ts';
import { outcomeOf } from '../shared/outcomes.ts';
import { idOf, type ListPage, listPage } from '../shared/reply-shapes.ts';
import { splitMember } from '../shared/split-member.ts';
import { statusByWords } from '../shared/status-by-words.ts';

const ended: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/**
 * Batches stand beside the version that calls are written for: `/api/beta`, next to `/api/v1`. The generated reference
 * has them below `/api/v1`, so what is not known at the one place is asked of the other. A 404 has accepted nothing.
 */
export function batchWire(wire: Wire): Wire {
  const root = wire.base.replace(/\/+$/, '').replace(/\/v1$/, '');
  const beta = wireAt(wire, `${root}/beta`);
  const stable = wireAt(wire, `${root}/v1`);
  return {
    ...beta,
    async send(request) {
      const reply = await beta.send(request);
      if (reply.status !== 404) return reply;
      await reply.discard();
      return stable.send(request);
    },
  };
}

/** OpenRouter's batch object in our words. A completed batch may have an `error`, too: it sums up its results. */
export function toRemote(batch: unknown, { redact }: Pick<Wire, 'redact'>): Remote {
  const raw = text(field(batch, 'status')) ?? 'unknown';
  const status = raw.toLowerCase();
  const isEnded = ended.has(status);
  const counts = fields(field(batch, 'request_counts'));
  const results = field(batch, 'results');
  // One that ended early may show what has run. A list leaves that open.
  const mayShow = status !== 'failed' && results === undefined;
  return {
    id: idOf(batch, 'a batch'),
    state: isEnded ? 'ended' : stateOf(status),
    raw,
    readable: isEnded && (status === 'completed' || mayShow || Array.isArray(results)),
    sources: {},
    ...(!isEmpty(counts) && {
      counts: {
        total: count(counts.total),
        completed: count(counts.completed),
        failed: count(counts.failed),
      },
    }),
    // Results come with the status, unless they are late or thrown away.
    ...(status === 'completed' && results === null && { incomplete: true }),
    ...(status === 'failed' && { failure: failureOf(field(batch, 'error'), redact) }),
    ...((status === 'expired' || status === 'cancelled') && { unfinished: status }),
  };
}

/** Unknown words are not terminal: a new status of the provider must not end a batch. */
function stateOf(status: string): Remote['state'] {
  if (status === 'cancelling' || status === 'finalizing') return status;
  return status === 'validating' ? 'queued' : 'running';
}

/**
 * "Failed to lower batch request 'abc' to the provider wire: …": one request is at fault, and is named by its id. A
 * failure that names none is that of all.
 */
function failureOf(error: unknown, redact: Wire['redact']): BatchFailure {
  const told = text(field(error, 'message')) ?? 'The provider refused the batch without a reason.';
  const message = redact(told);
  const status = statusIn(error) ?? 400;
  const code = redact(String(field(error, 'code') ?? 'batch_failed'));
  const next = /\brequests? '[^']+'|\bcustom_id\b/i.test(told) ? 'smaller' : 'fail';
  const answer = errorAnswer(status, 'invalid_request_error', message);
  return { code, message, meaning: 'refused', next, answer };
}

/** Lists have `results: null` in every batch, which says nothing about its results. */
export function readPage(body: unknown): ListPage {
  const page = listPage(body);
  return {
    ...page,
    batches: page.batches.map((batch) => ({ ...fields(batch), results: undefined })),
  };
}

/** A batch that is shown alone carries its results, of which there may be very many. They are left out. */
export async function readOne(reply: WireReply): Promise<unknown> {
  let batch: unknown;
  for await (const piece of splitMember(reply.bytes(), 'results')) {
    if ('rest' in piece) batch = parseJson(piece.rest);
  }
  if (batch !== undefined) return batch;
  throw new UnknownOutcomeError('The provider should have sent a batch, but sent something else.');
}

/** The results that stand in a batch. `mayBeEmpty`: it ended early, and may show none. */
export async function* resultsIn(
  reply: WireReply,
  requestIdHeader: string,
  mayBeEmpty: boolean,
): AsyncIterable<readonly Row[]> {
  let isUnderstood = false;
  for await (const piece of splitMember(reply.bytes(), 'results')) {
    if ('elements' in piece) {
      const rows = piece.elements.map((element) => readRow(element, requestIdHeader));
      isUnderstood ||= rows.some((row) => 'id' in row);
      yield rows;
      continue;
    }
    const isBatch = text(field(parseJson(piece.rest), 'id')) !== undefined;
    if (!isBatch && isUnderstood) yield [{ unreadable: 'unended' }];
    if (isUnderstood || (isBatch && mayBeEmpty)) return;
    yield [{ unreadable: isBatch || piece.rest.trim() === '' ? 'empty' : 'garbled' }];
  }
}

/** OpenAI's line, except that what a provider has refused stands in `error`, without a status. */
export function readRow(element: string, requestIdHeader: string): Row {
  const { custom_id: id, response, error } = fields(parseJson(element));
  const isError = isEmpty(response) && !isEmpty(error) && typeof id === 'string' && id !== '';
  if (!isError) return readResultLine(element, requestIdHeader);
  return { id, outcome: refusedOutcome(error) };
}

function refusedOutcome(error: unknown): Outcome {
  const { error_type: kind, type, code } = fields(error);
  const message = text(field(error, 'message')) ?? 'The request failed without a reason.';
  const words = [kind, type, code].map(String).join(' ');
  if (/expired\b/i.test(words)) return neverRan('expired', message);
  if (/cancell?ed\b/i.test(words)) return neverRan('cancelled', message);
  const status =
    statusIn(error) ??
    statusOfKind[String(kind)] ??
    errorStatus.of(text(type)) ??
    (/client_error/i.test(words) ? 400 : statusByWords(`${words} ${message}`));
  return outcomeOf(errorAnswer(status, text(type) ?? errorStatus.typeFor(status), message));
}

/** OpenRouter's own words for errors, which are the same whatever provider is behind it. */
const statusOfKind: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    [
      'context_length_exceeded',
      'max_tokens_exceeded',
      'token_limit_exceeded',
      'string_too_long',
      'invalid_request',
      'invalid_prompt',
      'refusal',
    ].map((kind) => [kind, 400]),
  ),
  authentication: 401,
  payment_required: 402,
  permission_denied: 403,
  content_policy_violation: 403,
  not_found: 404,
  precondition_failed: 412,
  payload_too_large: 413,
  unprocessable: 422,
  rate_limit_exceeded: 429,
  server: 500,
  provider_overloaded: 503,
  provider_unavailable: 503,
  timeout: 504,
};

function neverRan(reason: 'expired' | 'cancelled', message: string): Outcome {
  return { kind: 'retry', reason, last: errorAnswer(502, 'api_error', message) };
}

/** Errors carry a status as their `code`, where they have one. */
function statusIn(error: unknown): number | undefined {
  const { code, status_code: status } = fields(error);
  const number = Number(code ?? status);
  return Number.isInteger(number) && number >= 400 && number <= 599 ? number : undefined;
}

/** Understood by the SDKs of OpenAI and of Anthropic: OpenRouter speaks the wires of both. */
export function errorAnswer(status: number, type: string, message: string): Answer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: errorText(type, message),
  };
}

export function errorText(type: string, message: string): string {
  return JSON.stringify({ type: 'error', error: { type, message, param: null, code: type } });
}
