import { judgeByStatus, type ReplyJudge } from '../shared/judge-reply.ts';

/** xAI answers a wrong key with status 400. */
export const judgeXai: ReplyJudge = (reply) => {
  const isWrongKey = reply.status === 400 && /\bincorrect api key\b/i.test(reply.body);
  return isWrongKey ? { meaning: 'denied', next: 'fail' } : judgeByStatus(reply);
};
