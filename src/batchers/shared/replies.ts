import { BatchlingError, UnknownOutcomeError } from '../../base/errors.ts';
import { fields, parseJson, text } from '../../base/json.ts';
import type { Answer, Dict } from '../../base/types.ts';
import { parseRetryAfter } from '../../concurrency/backoff.ts';
import { redactBody } from '../../http/redact-body.ts';
import type { Wire, WireReply, WireRequest } from '../../http/wire.ts';
import type { BatchFailure } from '../batcher.ts';
import { judgeByStatus, type ReplyJudge } from './judge-reply.ts';
import { RefusedError } from './refused-error.ts';
import { idOf } from './reply-shapes.ts';

/**
 * The body of a create that was accepted. A refusal throws `RefusedError`; a reply that leaves open
 * whether the provider acted throws `UnknownOutcomeError`, and the batch is looked for.
 */
export async function createdBody(
  wire: Wire,
  reply: WireReply,
  judge: ReplyJudge = judgeByStatus,
): Promise<unknown> {
  if (isSuccess(reply)) return reply.json();
  const { failure, unclear } = await failureOf(wire, reply, judge);
  if (!unclear) throw new RefusedError(failure);
  throw new UnknownOutcomeError(
    `The provider answered ${reply.status} to a create; it may have accepted it.`,
    undefined,
    { status: reply.status },
  );
}

function isSuccess({ status }: WireReply): boolean {
  return status >= 200 && status < 300;
}

/** Judged by the provider's own words, told without credentials it may echo in them. */
async function failureOf(
  wire: Wire,
  reply: WireReply,
  judge: ReplyJudge,
): Promise<{ failure: BatchFailure; unclear: boolean }> {
  const { status, headers } = reply;
  // A status says what it says with and without a body that can be read.
  const body = await reply.text().catch(() => '');
  const verdict = judge({ status, headers, body, message: messageIn(body) ?? '' });
  const { meaning, next, lines, limit, within } = verdict;
  const told = redactBody(body, wire.redact);
  const message = messageIn(told) ?? `The provider answered ${status} to the batch.`;
  const answer: Answer = verdict.answerWith?.(message) ?? {
    status,
    headers: { 'content-type': headers['content-type'] ?? 'application/json' },
    body: told,
  };
  const retryAfter = parseRetryAfter(headers, wire.clock.now());
  const failure: BatchFailure = {
    meaning,
    code: `http_${status}`,
    message,
    next,
    answer,
    ...(lines && { bad: lines.map((line) => ({ line, answer })) }),
    ...(limit !== undefined && { limit }),
    ...(within !== undefined && { within }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
  return { failure, unclear: verdict.unclear === true };
}

/** What the body tells people: in its own members, in `error`, or in the object it wraps everything in. */
function messageIn(body: string): string | undefined {
  const members = fields(parseJson(body));
  const wrapped = Object.values(members).map(textIn);
  const inXml = /<Message>([^<]+)<\/Message>/.exec(body)?.[1];
  const inError = textIn(members.error) ?? text(members.error);
  return inError ?? textIn(members) ?? wrapped.find(Boolean) ?? inXml;
}

function textIn(value: unknown): string | undefined {
  const { message, detail, text: told, description } = fields(value);
  return text(message) ?? text(detail) ?? text(told) ?? text(description);
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

/** Sends and expects a 2xx; everything else is a `ReplyError` with what the batcher makes of it. */
export async function expectOk(
  wire: Wire,
  request: WireRequest,
  judge: ReplyJudge = judgeByStatus,
): Promise<WireReply> {
  return okReply(wire, request, await wire.send(request), judge);
}

/** The same for a reply that has come already. */
export async function okReply(
  wire: Wire,
  request: WireRequest,
  reply: WireReply,
  judge: ReplyJudge = judgeByStatus,
): Promise<WireReply> {
  if (isSuccess(reply)) return reply;
  const { failure } = await failureOf(wire, reply, judge);
  throw new ReplyError(request, failure, reply.status);
}

/** The same where the reply says nothing that matters. */
export async function expectDone(
  wire: Wire,
  request: WireRequest,
  judge?: ReplyJudge,
): Promise<void> {
  await (await expectOk(wire, request, judge)).discard();
}

/** Whether the provider does not know what it was asked for. */
export function isGone(error: unknown): error is ReplyError {
  return error instanceof ReplyError && error.failure.meaning === 'gone';
}

/** Deletes something; what is gone already is as good. */
export async function expectDeleted(
  wire: Wire,
  place: Pick<WireRequest, 'path' | 'audience'>,
  judge: ReplyJudge,
): Promise<void> {
  try {
    await expectDone(wire, { method: 'DELETE', ...place }, judge);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** Deletes all of these: one that cannot be deleted does not keep the others. */
export async function deleteEach<T>(
  things: readonly T[],
  remove: (thing: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const thing of things) {
    await remove(thing).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/** Whether this credential sees the thing at `path`. */
export function isVisible(wire: Wire, path: string, headers: Dict = {}): Promise<boolean> {
  const request = { method: 'GET', path, headers } as const;
  return isSeen(async () => idOf(await (await expectOk(wire, request)).json(), 'an object'));
}

/** Whether this credential sees what is looked for. Only "there" and "not for you" are answers. */
export async function isSeen(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch (error) {
    if (error instanceof ReplyError && (error.status === 404 || error.status === 403)) return false;
    throw error;
  }
}
