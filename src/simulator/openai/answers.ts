import type { DialectAnswer } from '../execute.ts';
import { isObject, type JsonObject } from '../json.ts';
import { answerText, estimateTokens, lastUserText } from '../prompt.ts';
import { newId } from '../random.ts';
import { embed } from './embeddings.ts';

export type Answer = (body: JsonObject, n: number) => DialectAnswer;

/** By endpoint: full bodies as OpenAI sends them. */
export const answers: Record<string, Answer> = {
  '/v1/chat/completions': answerChat,
  '/v1/responses': answerResponse,
  '/v1/embeddings': embed,
  '/v1/completions': answerCompletion,
  '/v1/moderations': moderate,
};

function answerChat(body: JsonObject, n: number): DialectAnswer {
  const model = String(body.model);
  const text = answerText(lastUserText(body.messages), model, n);
  const wantsJson = isObject(body.response_format) && body.response_format.type !== 'text';
  const content = wantsJson ? JSON.stringify({ answer: text }) : text;
  const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({
    index,
    message: { role: 'assistant', content, refusal: null, annotations: [] },
    logprobs: null,
    finish_reason: 'stop',
  }));
  const inputTokens = estimateTokens(body.messages);
  const outputTokens = estimateTokens(content) * choices.length;
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('chatcmpl-'),
      object: 'chat.completion',
      created: nowInSeconds(),
      model,
      choices,
      usage: {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      service_tier: 'default',
      system_fingerprint: 'fp_simulator',
    },
  };
}

function answerResponse(body: JsonObject, n: number): DialectAnswer {
  const model = String(body.model);
  const text = answerText(lastUserText(body.input), model, n);
  const inputTokens = estimateTokens(body.input, body.instructions);
  const outputTokens = estimateTokens(text);
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('resp_'),
      object: 'response',
      created_at: nowInSeconds(),
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: body.instructions ?? null,
      max_output_tokens: body.max_output_tokens ?? null,
      model,
      output: [
        {
          id: newId('msg_'),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: body.previous_response_id ?? null,
      reasoning: { effort: null, summary: null },
      store: body.store ?? true,
      temperature: body.temperature ?? 1,
      text: body.text ?? { format: { type: 'text' } },
      tool_choice: body.tool_choice ?? 'auto',
      tools: body.tools ?? [],
      top_p: body.top_p ?? 1,
      truncation: 'disabled',
      usage: {
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: inputTokens + outputTokens,
      },
      metadata: body.metadata ?? {},
    },
  };
}

function answerCompletion(body: JsonObject, n: number): DialectAnswer {
  const model = String(body.model);
  const text = answerText(lastUserText(body.prompt), model, n);
  const inputTokens = estimateTokens(body.prompt);
  const outputTokens = estimateTokens(text);
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId('cmpl-'),
      object: 'text_completion',
      created: nowInSeconds(),
      model,
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

function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
