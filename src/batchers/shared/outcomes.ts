import type { Answer, Dict } from '../../types.ts';
import type { Outcome, RetryReason } from '../batcher.ts';
import { isOwnersLimit } from './owner-limits.ts';

/** Judges an item by its HTTP status: what may differ at the next attempt is a retry. */
export function outcomeOf(answer: Answer): Outcome {
  const reason = retryReason(answer);
  return reason ? { kind: 'retry', reason, last: answer } : { kind: 'answer', answer };
}

function retryReason({ status, body }: Answer): RetryReason | undefined {
  if (status === 429) return isOwnersLimit(body) ? undefined : 'rate-limit';
  if (status === 408 || status >= 500) return 'server';
  return undefined;
}

/** Headers of an answer made from a batch line. Clients need the content type to parse it. */
export function answerHeaders(requestIdHeader: string, requestId: unknown): Dict {
  return typeof requestId === 'string' && requestId !== ''
    ? { 'content-type': 'application/json', [requestIdHeader]: requestId }
    : { 'content-type': 'application/json' };
}

/** Reads a field of an unknown value. Provider replies are read leniently: only what is needed. */
export function field(value: unknown, name: string): unknown {
  return fields(value)[name];
}

const none = {};

/** The same for several, by name: what is read of every line is read faster so. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : none;
}

/** A string that says something; providers write "nothing" as null, as "" or not at all. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** No object, or one without members: an "answer" that has been seen in the wild. */
export function isEmpty(json: unknown): boolean {
  for (const _ in fields(json)) return false;
  return true;
}

export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
