import type { Answer } from '../openai-like/answers/answers.ts';
import { embed } from '../openai-like/answers/embeddings.ts';
import { nowInSeconds } from '../openai-like/answers/now-in-seconds.ts';
import { usageOf } from '../openai-like/answers/usage.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Content } from '../world/model/content.ts';
import type { DialectAnswer } from '../world/model/execute.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { newId } from '../world/random.ts';

/** By endpoint: full bodies as Mistral sends them. */
export const answers: Record<string, Answer> = {
  '/v1/chat/completions': (body, content) => completion(body, content, body.messages),
  '/v1/fim/completions': (body, content) => completion(body, content, body.prompt),
  '/v1/embeddings': embeddings,
  '/v1/moderations': moderate,
  '/v1/chat/moderations': moderate,
  '/v1/classifications': classify,
  '/v1/chat/classifications': classify,
  '/v1/ocr': recognise,
  '/v1/conversations': converse,
  '/v1/audio/transcriptions': transcribe,
};

function completion(body: JsonObject, content: Content, question: unknown): DialectAnswer {
  const calls = content.toolCalls.map(({ name, arguments: values }, index) => ({
    id: newId('').slice(0, 9),
    type: 'function',
    function: { name, arguments: JSON.stringify(values) },
    index,
  }));
  const message = {
    role: 'assistant',
    content: content.text ?? '',
    tool_calls: calls.length > 0 ? calls : null,
    prefix: false,
  };
  const reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const choices = Array.from({ length: Number(body.n ?? 1) }, (_, index) => ({
    index,
    finish_reason: reason,
    message,
  }));
  const inputTokens = estimateTokens(question);
  const outputTokens = estimateTokens(content) * choices.length;
  return {
    inputTokens,
    outputTokens,
    body: {
      id: newId(''),
      object: 'chat.completion',
      model: body.model,
      created: nowInSeconds(),
      choices,
    },
  };
}

function answered(
  inputTokens: number,
  outputTokens: number,
  bodyWith: (usage: JsonObject) => JsonObject,
): DialectAnswer {
  return { inputTokens, outputTokens, body: bodyWith(usageOf(inputTokens, outputTokens)) };
}

function embeddings(body: JsonObject, _content: Content, n: number): DialectAnswer {
  const { output_dimension: dimensions, ...rest } = body;
  const { inputTokens, body: answer } = embed(dimensions ? { ...rest, dimensions } : rest, n);
  return answered(inputTokens, 0, (usage) => ({ ...answer, id: newId(''), usage }));
}

/** One result for each text, or for each conversation. */
function eachInput(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input];
  return isObject(input[0]) && 'role' in input[0] ? [input] : input;
}

function moderate({ input, model }: JsonObject): DialectAnswer {
  const results = eachInput(input).map(() => ({
    categories: { sexual: false, violence_and_threats: false, pii: false },
    category_scores: { sexual: 0.0001, violence_and_threats: 0.0002, pii: 0.0003 },
  }));
  return answered(estimateTokens(input), 0, (usage) => ({ id: newId(''), model, usage, results }));
}

function classify({ input, model }: JsonObject): DialectAnswer {
  const results = eachInput(input).map(() => ({ mood: { scores: { calm: 0.9, angry: 0.1 } } }));
  return answered(estimateTokens(input), 0, (usage) => ({ id: newId(''), model, usage, results }));
}

/** Pages are counted here, not tokens. */
function recognise({ model }: JsonObject, { text }: Content): DialectAnswer {
  const pages = [{ index: 0, markdown: text, images: [], dimensions: null }];
  const info = { pages_processed: 1, doc_size_bytes: 1_000 };
  const body = { pages, model, document_annotation: null, usage_info: info };
  return { inputTokens: 0, outputTokens: 0, body };
}

function converse({ inputs, model }: JsonObject, { text }: Content): DialectAnswer {
  const at = new Date().toISOString();
  const entry = {
    object: 'entry',
    type: 'message.output',
    created_at: at,
    completed_at: at,
    id: newId('msg_'),
    model,
    role: 'assistant',
    content: text,
  };
  return {
    inputTokens: estimateTokens(inputs),
    outputTokens: estimateTokens(text),
    body: { object: 'conversation.response', conversation_id: newId('conv_'), outputs: [entry] },
  };
}

function transcribe({ model }: JsonObject, { text }: Content): DialectAnswer {
  return answered(4, estimateTokens(text), (usage) => ({
    model,
    text,
    language: 'en',
    segments: [],
    usage: { ...usage, prompt_audio_seconds: 20 },
    finish_reason: null,
  }));
}
