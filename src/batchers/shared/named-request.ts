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

/** "… line 3: …"; "at line 1 column 5" is where in a line its JSON is broken. */
const namedLine = /\bline (\d+)\b(?! column)/i;

/**
 * Judges uploads whose lines are checked, where the first bad one is named: it is at fault, the others are not, and
 * nothing was stored.
 *
 * @example
 * protected override readonly judge = judgeNamedLine(judgeOpenAI);
 */
export function judgeNamedLine(judge: ReplyJudge): ReplyJudge {
  return (reply) => {
    const { status, message } = reply;
    const line = status === 400 || status === 422 ? namedLine.exec(message)?.[1] : undefined;
    if (line === undefined) return judge(reply);
    return { meaning: 'refused', next: 'isolate', lines: [Number(line)] };
  };
}
