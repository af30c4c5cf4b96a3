import { vectorOf } from '../openai-like/answers/embeddings.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Content } from '../world/model/content.ts';
import type { Dialect, DialectAnswer } from '../world/model/execute.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { newId } from '../world/random.ts';
import { type AutomaticCache, automaticPrefixes } from '../world/usage/automatic-prefixes.ts';
import { lastUserText, textOf } from './contents.ts';
import { demandOf } from './demand.ts';
import { geminiTiers } from './tiers.ts';
import { tellUsage } from './usage.ts';

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
    tiers: geminiTiers,
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
    tellUsage: (endpoint, answer, usage) =>
      isEmbedding(endpoint) ? answer : tellUsage(answer, usage),
    prefixes: (endpoint, { tools, systemInstruction, contents }, model, limits) =>
      isEmbedding(endpoint)
        ? []
        : automaticPrefixes(tools, [systemInstruction, contents], cacheOf(model), limits),
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

function checkGenerate({ contents, stream, generationConfig }: JsonObject): Outcome | null {
  if (stream !== undefined) return unknownName('stream');
  // The tier stands beside it; inside of it the field is not known.
  if (isObject(generationConfig) && generationConfig.serviceTier !== undefined) {
    return unknownName('serviceTier');
  }
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

/** Gemini keeps long prompts by itself, and bills no writing. */
function cacheOf(model: string): AutomaticCache {
  const minimum = model.startsWith('gemini-2') ? 2_048 : 4_096;
  return { minimum, life: 10 * 60_000, write: 'free' };
}

function generate(model: string, body: JsonObject, content: Content): DialectAnswer {
  const asked = inputTokens(body);
  const outputTokens = estimateTokens(content);
  const candidate = {
    content: { parts: partsOf(content), role: 'model' },
    finishReason: 'STOP',
    index: 0,
  };
  return {
    inputTokens: asked,
    outputTokens,
    body: { candidates: [candidate], modelVersion: model, responseId: newId('') },
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
