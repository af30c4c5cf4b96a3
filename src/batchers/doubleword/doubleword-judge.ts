import { judgeOpenAI } from '../openai/openai-judge.ts';
import { judgeNamedLine } from '../shared/named-request.ts';

/** A 403 about a model: the key is fine, but this model is not for it. */
export const judgeDoubleword = judgeNamedLine((reply) =>
  reply.status === 403 && /\bmodel\b/i.test(reply.message)
    ? { meaning: 'refused', next: 'fail' }
    : judgeOpenAI(reply),
);
