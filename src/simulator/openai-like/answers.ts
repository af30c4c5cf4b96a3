import type { JsonObject } from '../server/json.ts';
import type { Content } from '../world/content.ts';
import type { DialectAnswer } from '../world/execute.ts';
import { estimateTokens } from '../world/prompt.ts';
import { newId } from '../world/random.ts';
import { answerChat } from './chat-answer.ts';
import { embed } from './embeddings.ts';
import { nowInSeconds } from './now-in-seconds.ts';
import { answerResponse } from './response-answer.ts';

export type Answer = (body: JsonObject, content: Content, n: number) => DialectAnswer;

/** By endpoint: full bodies as OpenAI sends them. */
export const answers: Record<string, Answer> = {
  '/v1/chat/completions': answerChat,
  '/v1/responses': answerResponse,
  '/v1/embeddings': (body, _content, n) => embed(body, n),
  '/v1/completions': answerCompletion,
  '/v1/moderations': moderate,
};

function answerCompletion(body: JsonObject, content: Content): DialectAnswer {
  const text = content.text ?? '';
  const inputTokens = estimateTokens(body.prompt);
  const outputTokens = estimateTokens(text);
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('cmpl-'),
      object: 'text_completion',
      created: nowInSeconds(),
      model: String(body.model),
      choices: [{ text, index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
      },
    },
  };
}

function moderate(body: JsonObject): DialectAnswer {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const results = inputs.map(() => ({
    flagged: false,
    categories: { hate: false, violence: false },
    category_scores: { hate: 0.0001, violence: 0.0001 },
  }));
  return {
    inputTokens: estimateTokens(inputs),
    outputTokens: 0,
    body: { id: newId('modr-'), model: String(body.model), results },
  };
}
