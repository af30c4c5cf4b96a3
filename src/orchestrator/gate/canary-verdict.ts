import type { Answer } from '../../base/types.ts';
import { errorCodeOf } from '../answer/error-code.ts';

/** Errors of ours that are about one request alone. So is status 413, too large. */
const aboutOneRequest = new Set(['batchling_cancelled', 'batchling_too_large']);

/**
 * What the outcome of a canary says about its kind. An error of ours (no connection, no budget, a ledger that
 * fails) stops nothing: whoever sends the others meets it, too, and tells them.
 */
export type CanaryVerdict = 'goes on' | 'stops' | 'says nothing';

export function verdictOf(answer: Answer | undefined): CanaryVerdict {
  if (answer === undefined) return 'says nothing';
  const { status } = answer;
  const code = errorCodeOf(answer);
  if (status === 413 || (code !== undefined && aboutOneRequest.has(code))) return 'says nothing';
  if (status < 400 || status >= 500 || code?.startsWith('batchling_')) return 'goes on';
  // A timeout, a conflict and a full queue pass.
  return status === 408 || status === 409 || status === 429 ? 'goes on' : 'stops';
}
