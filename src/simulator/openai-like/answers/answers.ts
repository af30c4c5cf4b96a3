import type { JsonObject } from '../../server/json.ts';
import type { Content } from '../../world/model/content.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { answerChat } from './chat-answer.ts';
import { answerCompletion } from './completion-answer.ts';
import { embed } from './embeddings.ts';
import { answerImages } from './image-answer.ts';
import { moderate } from './moderation-answer.ts';
import { answerResponse } from './response-answer.ts';
import { embedInContext, rank } from './voyage-answers.ts';

export type Answer = (body: JsonObject, content: Content, n: number) => DialectAnswer;

/** By endpoint: full bodies as OpenAI sends them, and at its end two as Voyage does. */
export const answers: Record<string, Answer> = {
  '/v1/chat/completions': answerChat,
  '/v1/responses': answerResponse,
  '/v1/embeddings': (body, _content, n) => embed(body, n),
  '/v1/completions': answerCompletion,
  '/v1/moderations': (body, _content, n) => moderate(body, n),
  '/v1/images/generations': (body, _content, n) => answerImages(body, n),
  '/v1/images/edits': (body, _content, n) => answerImages(body, n),
  '/v1/contextualizedembeddings': (body, _content, n) => embedInContext(body, n),
  '/v1/rerank': (body, _content, n) => rank(body, n),
};
