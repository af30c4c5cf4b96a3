import { vectorOf } from '../openai-like/answers/embeddings.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Content } from '../world/model/content.ts';
import type { Dialect, DialectAnswer } from '../world/model/execute.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { newId } from '../world/random.ts';
import { lastUserText, textOf } from './contents.ts';
import { demandOf } from './demand.ts';

const standardDimensions = 8;
const silence: Content = { text: '', toolCalls: [] };

/** Where a request would be sent outside of a batch. The model is part of the path. */
export function endpointOf(model: string, method: 'generateContent' | 'embedContent'): string {
  return `/v1beta/models/${model}:${method}`;
}

/** How Gemini answers, batched or not: `provider` is the simulator's name of the service. */
export function geminiDialect(provider: string): Dialect {
  return {
    provider,
    model: modelIn,
    prompt: (endpoint, body) =>
      isEmbedding(endpoint) ? textOf(body.content) : lastUserText(body.contents),
    check: (endpoint, body) => (isEmbedding(endpoint) ? checkEmbed(body) : checkGenerate(body)),
    unknownModel: (model) => ({ kind: 'refused', status: 404, message: unknownModel(model) }),
    demand: (endpoint, body) => (isEmbedding(endpoint) ? null : demandOf(body)),
    answer: (endpoint, body, content, n) =>
      isEmbedding(endpoint)
        ? embed(body, n)
        : generate(modelIn(endpoint), body, content ?? silence),
    encode: (_endpoint, _body, given) => given,
    inputTokens: (_endpoint, body) => inputTokens(body),
  };
}

export function unknownModel(model: string): string {
  return `models/${model} is not found for API version v1beta, or is not supported for this method.`;
}

function modelIn(endpoint: string): string {
  return /\/models\/(.+):\w+$/.exec(endpoint)?.[1] ?? '';
}

function isEmbedding(endpoint: string): boolean {
  return endpoint.endsWith(':embedContent');
}

function checkGenerate({ contents, stream }: JsonObject): Outcome | null {
  if (stream !== undefined) return unknownName('stream');
  if (!Array.isArray(contents) || contents.length === 0) {
    return refused('* GenerateContentRequest.contents: contents is not specified');
  }
  const isWhole = contents.every((content) => isObject(content) && Array.isArray(content.parts));
  return isWhole ? null : refused('* GenerateContentRequest.contents: parts must not be empty');
}

function checkEmbed({ content, contents }: JsonObject): Outcome | null {
  if (contents !== undefined) return unknownName('contents');
  if (isObject(content) && Array.isArray(content.parts) && content.parts.length > 0) return null;
  return refused('* EmbedContentRequest.content: contents is not specified');
}

function unknownName(name: string): Outcome {
  return refused(`Invalid JSON payload received. Unknown name "${name}": Cannot find field.`);
}

function refused(message: string): Outcome {
  return { kind: 'refused', status: 400, message };
}

function inputTokens({ contents, content, systemInstruction }: JsonObject): number {
  return estimateTokens(contents, content, systemInstruction);
}

function generate(model: string, body: JsonObject, content: Content): DialectAnswer {
  const asked = inputTokens(body);
  const outputTokens = estimateTokens(content);
  const candidate = {
    content: { parts: partsOf(content), role: 'model' },
    finishReason: 'STOP',
    index: 0,
  };
  const usageMetadata = {
    promptTokenCount: asked,
    candidatesTokenCount: outputTokens,
    totalTokenCount: asked + outputTokens,
  };
  return {
    inputTokens: asked,
    outputTokens,
    body: { candidates: [candidate], usageMetadata, modelVersion: model, responseId: newId('') },
  };
}

function partsOf({ text, toolCalls }: Content): JsonObject[] {
  const calls = toolCalls.map(({ name, arguments: args }) => ({ functionCall: { name, args } }));
  return text === null ? calls : [{ text }, ...calls];
}

function embed(body: JsonObject, n: number): DialectAnswer {
  const tokens = inputTokens(body);
  const dimensions = Number(body.outputDimensionality ?? standardDimensions);
  const values = vectorOf(textOf(body.content), dimensions, n);
  return {
    inputTokens: tokens,
    outputTokens: 0,
    body: { embedding: { values }, tokenCount: String(tokens) },
  };
}
