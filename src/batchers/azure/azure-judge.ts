import { field, parseJson } from '../../base/json.ts';
import { judgeOpenAI } from '../openai/openai-judge.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';

/** Files of other batches go with their batches; a quota that is full of forgotten files stays full. */
const longestWaitForFiles = 24 * 3_600_000;

/** A resource that has no room for another file says so with a 400. */
export const judgeAzure: ReplyJudge = (reply) => {
  const code = field(field(parseJson(reply.body), 'error'), 'code');
  const isFull = reply.status === 400 && String(code).toLowerCase() === 'quotaexceeded';
  if (!isFull) return judgeOpenAI(reply);
  return { meaning: 'full', next: 'later', within: longestWaitForFiles };
};
