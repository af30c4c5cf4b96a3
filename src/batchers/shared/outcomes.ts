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

/** Headers of an answer made from a batch line. Clients need the content type to parse it. */
export function answerHeaders(requestIdHeader: string, requestId: unknown): Dict {
  return typeof requestId === 'string' && requestId !== ''
    ? { 'content-type': 'application/json', [requestIdHeader]: requestId }
    : { 'content-type': 'application/json' };
}
