import type { Answer, Dict } from '../../base/types.ts';
import type { Outcome } from '../result-row.ts';
import { judgeByStatus, type ReplyJudge } from './judge-reply.ts';

/** What becomes of a line with this answer: what may differ at the next attempt is a retry. */
export function outcomeOf(answer: Answer, judge: ReplyJudge = judgeByStatus): Outcome {
  if (answer.status < 300) return { kind: 'answer', answer };
  const { meaning, next } = judge({ ...answer, message: '' });
  if (next !== 'later') return { kind: 'answer', answer };
  return { kind: 'retry', reason: meaning === 'full' ? 'rate-limit' : 'server', last: answer };
}

/** A body as JSON; `undefined` where it is none. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
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
