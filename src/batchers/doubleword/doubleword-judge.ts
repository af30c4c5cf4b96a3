import { judgeOpenAI } from '../openai/openai-judge.ts';
import type { FailedReply, ReplyVerdict } from '../shared/judge-reply.ts';

/** "… line 3: …"; "at line 1 column 5" is where in a line its JSON is broken. */
const namedLine = /\bline (\d+)\b(?! column)/i;

/** Lines are checked at the upload, and the first bad one is named. Nothing was stored then. */
export function judgeDoubleword(reply: FailedReply): ReplyVerdict {
  const { status, message } = reply;
  const line = status === 400 || status === 422 ? namedLine.exec(message)?.[1] : undefined;
  if (line !== undefined) return { meaning: 'refused', next: 'isolate', lines: [Number(line)] };
  // The key is fine, but this model is not for it.
  if (status === 403 && /\bmodel\b/i.test(message)) return { meaning: 'refused', next: 'fail' };
  return judgeOpenAI(reply);
}
