import { BatchlingError, UnknownOutcomeError } from '../../errors.ts';
import { parseRetryAfter } from '../../http/backoff.ts';
import { redactBody } from '../../http/redact-body.ts';
import type { Wire, WireReply, WireRequest } from '../../http/wire.ts';
import type { Dict } from '../../types.ts';
import type { BadLine, BatchFailure, ReplyMeaning } from '../batcher.ts';
import { field, text } from './outcomes.ts';
import { isOwnersLimit, parse } from './owner-limits.ts';
import { RefusedError } from './refused-error.ts';
import { idOf } from './reply-shapes.ts';

/** Statuses that say "not accepted": waiting and sending again cannot double anything. */
const notAccepted = new Set([429, 503, 529]);

/**
 * The body of a create that was accepted. A refusal throws `RefusedError`; a status that leaves open
 * whether the provider acted (408, 500, 502, 504 …) throws `UnknownOutcomeError`. `judge`: what a provider
 * says in its own words.
 */
export async function createdBody(
  wire: Wire,
  reply: WireReply,
  judge: (failure: BatchFailure) => BatchFailure = (failure) => failure,
): Promise<unknown> {
  if (reply.status >= 200 && reply.status < 300) return reply.json();
  // A status that says no says so with and without a body that can be read.
  const body = redactBody(await reply.text().catch(() => ''), wire.redact);
  if (notAccepted.has(reply.status)) {
    throw new RefusedError(refusal(wire, reply, body, isOwnersLimit(body) ? 'fail' : 'later'));
  }
  if (reply.status === 408 || reply.status >= 500) {
    throw new UnknownOutcomeError(
      `The provider answered ${reply.status} to a create; it may have accepted it.`,
      undefined,
      { status: reply.status },
    );
  }
  const failure = refusal(wire, reply, body, reply.status === 413 ? 'smaller' : 'fail');
  const bad = reply.status === 400 || reply.status === 422 ? badLine(failure) : undefined;
  throw new RefusedError(bad ? { ...failure, next: 'isolate', bad: [bad] } : judge(failure));
}

/** "requests.3.params: …", "requests[3] is …": one of them is at fault, the others are not. */
function badLine({ message, answer }: BatchFailure): BadLine | undefined {
  const index = /\brequests(?:\.|\[)(\d+)\b/.exec(message)?.[1];
  return index === undefined || answer === undefined
    ? undefined
    : { line: Number(index) + 1, answer };
}

function refusal(
  wire: Wire,
  reply: WireReply,
  body: string,
  next: BatchFailure['next'],
): BatchFailure {
  const retryAfter = parseRetryAfter(reply.headers, wire.clock.now());
  return {
    meaning: meaningOf(reply.status),
    code: `http_${reply.status}`,
    message: messageOf(body) ?? `The provider answered ${reply.status} to the batch.`,
    next,
    answer: {
      status: reply.status,
      headers: { 'content-type': reply.headers['content-type'] ?? 'application/json' },
      body,
    },
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

function meaningOf(status: number): ReplyMeaning {
  if (status === 401 || status === 403) return 'denied';
  if (status === 404 || status === 410) return 'gone';
  if (status === 429) return 'full';
  return status === 408 || status >= 500 ? 'busy' : 'refused';
}

function messageOf(body: string): string | undefined {
  const parsed = parse(body);
  const error = field(parsed, 'error');
  return text(field(error, 'message')) ?? text(error) ?? text(field(parsed, 'message'));
}

/** A reply that was not the expected 2xx, outside of a create. */
export class ReplyError extends BatchlingError {
  readonly status: number;
  readonly failure: BatchFailure;

  constructor(request: WireRequest, failure: BatchFailure, status: number) {
    const path = request.path.split('?')[0];
    super('REFUSED', `${request.method} ${path} was answered with ${status}: ${failure.message}`, {
      facts: { status },
    });
    this.name = 'ReplyError';
    this.status = status;
    this.failure = failure;
  }
}

/** Sends and expects a 2xx; everything else is a `ReplyError` with its status. */
export async function expectOk(wire: Wire, request: WireRequest): Promise<WireReply> {
  const reply = await wire.send(request);
  if (reply.status >= 200 && reply.status < 300) return reply;
  const body = redactBody(await reply.text().catch(() => ''), wire.redact);
  const unavailable = reply.status >= 500 || reply.status === 408;
  const wait = unavailable || (reply.status === 429 && !isOwnersLimit(body));
  const next = wait ? 'later' : reply.status === 413 ? 'smaller' : 'fail';
  throw new ReplyError(request, refusal(wire, reply, body, next), reply.status);
}

/** Whether this credential sees the thing at `path`. Only "there" and "not for you" are answers. */
export async function isVisible(wire: Wire, path: string, headers: Dict = {}): Promise<boolean> {
  try {
    idOf(await (await expectOk(wire, { method: 'GET', path, headers })).json(), 'an object');
    return true;
  } catch (error) {
    if (error instanceof ReplyError && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}
