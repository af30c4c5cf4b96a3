import type { ReplyJudge } from './judge-reply.ts';

/**
 * "requests.3.params: …", "requests[3] is …": one of them is at fault, the others are not.
 *
 * @example
 * const body = await createdBody(wire, reply, judgeNamedRequest(judgeByStatus));
 */
export function judgeNamedRequest(judge: ReplyJudge): ReplyJudge {
  return (reply) => {
    const verdict = judge(reply);
    const index = /\brequests(?:\.|\[)(\d+)\b/.exec(reply.message)?.[1];
    if (verdict.meaning !== 'refused' || verdict.next !== 'fail' || index === undefined) {
      return verdict;
    }
    return { ...verdict, next: 'isolate', lines: [Number(index) + 1] };
  };
}
