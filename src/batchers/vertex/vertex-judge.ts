import { judgeGoogle } from '../google/google-judge.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';

/**
 * Google's refusals. A caller without the right to see a thing is told that it "may not exist", which proves
 * nothing here: jobs and objects that are not there are answered with 404, and a job that cannot be seen may
 * be paid for.
 */
export const judgeVertex: ReplyJudge = (reply) =>
  reply.status === 403 ? { meaning: 'denied', next: 'fail' } : judgeGoogle(reply);

/** A project's first job waits until Google has made the account that reads its bucket. */
const longestWaitForAgent = 10 * 60_000;

export const judgeCreate: ReplyJudge = (reply) => {
  const verdict = judgeVertex(reply);
  const isProvisioned = /service agents? (are|is) being provisioned/i.test(reply.message);
  if (!isProvisioned || reply.status >= 500) return verdict;
  return { meaning: 'busy', next: 'later', within: longestWaitForAgent };
};
