import type { Answer, Dict } from '../../base/types.ts';
import type { BatchFailure, ReplyMeaning } from '../batch-failure.ts';

/** A reply, or a line of the results, whose status is not 2xx. */
export interface FailedReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Dict;
  readonly body: string;
  /** What the body tells people, if it has the usual shape. */
  readonly message: string;
}

/** What a batcher makes of a failed reply. */
export interface ReplyVerdict {
  readonly meaning: ReplyMeaning;
  readonly next: BatchFailure['next'];
  /** The provider may have acted all the same. To a create this means: look for the batch first. */
  readonly unclear?: true;
  /** The lines at fault, counted from one, if `next` is `isolate`. */
  readonly lines?: readonly number[];
  /** How many tokens may wait at once, if `next` is `later` and the provider says so. */
  readonly limit?: number;
  /** How many milliseconds `later` may last before the callers get the failure. */
  readonly within?: number;
  /** Makes what the callers get, if their clients could not read the reply itself. It is given the reply's message. */
  readonly answerWith?: (message: string) => Answer;
}

export type ReplyJudge = (reply: FailedReply) => ReplyVerdict;

/**
 * Judges replies from the place where files or batches are made. A server that does not know the place has no
 * batch API, and cannot have acted.
 *
 * @example
 * const reply = await expectOk(wire, { method: 'POST', path: '/files', body }, judgePlace(this.judge));
 */
export function judgePlace(judge: ReplyJudge): ReplyJudge {
  return (reply) => {
    const verdict = judge(reply);
    const isUnknown = verdict.meaning === 'gone' && verdict.next === 'fail';
    const isUnserved = isUnknown || reply.status === 405 || reply.status === 501;
    // Some answer 404 for a model that they do not have.
    const isModel = /\bmodel\b/i.test(reply.message);
    return isUnserved && !isModel ? { meaning: 'unserved', next: 'fail' } : verdict;
  };
}

/**
 * What a status means by itself. A provider with words of its own looks at them first, or changes this
 * verdict.
 *
 * @example
 * const judgeMine: ReplyJudge = (reply) =>
 *   reply.message.includes('plan') ? { meaning: 'refused', next: 'fail' } : judgeByStatus(reply);
 */
export function judgeByStatus({ status }: Pick<FailedReply, 'status'>): ReplyVerdict {
  if (status === 429) return { meaning: 'full', next: 'later' };
  // These two say "not accepted": sending again cannot double anything.
  if (status === 503 || status === 529) return { meaning: 'busy', next: 'later' };
  if (status === 408 || status >= 500) return { meaning: 'busy', next: 'later', unclear: true };
  if (status === 401 || status === 403) return { meaning: 'denied', next: 'fail' };
  if (status === 404 || status === 410) return { meaning: 'gone', next: 'fail' };
  return { meaning: 'refused', next: status === 413 ? 'smaller' : 'fail' };
}
