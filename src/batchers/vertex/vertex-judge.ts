import { judgeGoogle } from '../google/google-judge.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';

/** A project's first job waits until Google has made the account that reads its bucket. */
const longestWaitForAgent = 10 * 60_000;

export const judgeCreate: ReplyJudge = (reply) => {
  const verdict = judgeGoogle(reply);
  const isProvisioned = /service agents? (are|is) being provisioned/i.test(reply.message);
  if (!isProvisioned || reply.status >= 500) return verdict;
  return { meaning: 'busy', next: 'later', within: longestWaitForAgent };
};
