import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Dialect } from '../world/model/execute.ts';
import { estimateTokens, lastUserText } from '../world/model/prompt.ts';
import { type AutomaticCache, automaticPrefixes } from '../world/usage/automatic-prefixes.ts';
import type { SimulatedUsage } from '../world/usage/usage.ts';
import { type Answer, answers } from './answers/answers.ts';
import { demands } from './answers/demand.ts';
import { encodeEmbeddings } from './answers/embeddings.ts';
import { usageTellers } from './answers/usage.ts';
import type { OpenAILike } from './description.ts';

export const realtimeEndpoints = Object.keys(answers);

const questionField: Record<string, string> = {
  '/v1/chat/completions': 'messages',
  '/v1/completions': 'prompt',
  '/v1/images/generations': 'prompt',
  '/v1/images/edits': 'prompt',
  '/v1/contextualizedembeddings': 'inputs',
  '/v1/rerank': 'query',
};

/** Endpoints that have a model of their own for ordinary calls that name none. */
const withStandardModel = ['/v1/moderations', '/v1/images/generations', '/v1/images/edits'];

function questionOf(endpoint: string): string {
  return questionField[endpoint] ?? 'input';
}

export function promptOf(endpoint: string, body: JsonObject): string {
  return lastUserText(body[questionOf(endpoint)]);
}

function check(endpoint: string, body: JsonObject): Outcome | null {
  if (!(endpoint in answers)) return refused(`The simulator cannot answer ${endpoint}.`);
  const needed = withStandardModel.includes(endpoint) ? [] : ['model'];
  const missing = [...needed, questionOf(endpoint)].find((name) => body[name] === undefined);
  return missing === undefined ? null : missingField(missing);
}

function missingField(name: string): Outcome {
  return refused(`Missing required parameter: '${name}'.`, name);
}

function refused(message: string, param?: string): Outcome {
  const outcome = { kind: 'refused', status: 400, message } as const;
  return param === undefined ? outcome : { ...outcome, param, code: 'missing_required_parameter' };
}

/** Answers by endpoint; an endpoint that has none is answered with nothing. */
export function answerBy(byEndpoint: Record<string, Answer>): Dialect['answer'] {
  const nothing: Answer = () => ({ body: {}, inputTokens: 0, outputTokens: 0 });
  return (endpoint, body, content, n) =>
    (byEndpoint[endpoint] ?? nothing)(body, content ?? { text: null, toolCalls: [] }, n);
}

const common: Omit<Dialect, 'provider'> = {
  prompt: promptOf,
  check,
  unknownModel: (model) => ({
    kind: 'refused',
    status: 404,
    message: `The model \`${model}\` does not exist or you do not have access to it.`,
    code: 'model_not_found',
  }),
  demand: (endpoint, body) => demands[endpoint]?.(body) ?? null,
  answer: answerBy(answers),
  encode: (endpoint, body, answer) =>
    endpoint === '/v1/embeddings' ? encodeEmbeddings(body, answer) : answer,
  inputTokens: (endpoint, body) => estimateTokens(body[questionOf(endpoint)]),
};

export function realtimeDialect(like: OpenAILike): Dialect {
  const { name, tiers, automaticCache } = like;
  return {
    provider: name,
    ...common,
    tellUsage: usageTeller(like),
    ...(tiers && { tiers }),
    ...(automaticCache && { prefixes: prefixesBy(automaticCache) }),
  };
}

export function batchDialect(like: OpenAILike): Dialect {
  return { ...realtimeDialect(like), check: checkLine };
}

function usageTeller(like: OpenAILike): NonNullable<Dialect['tellUsage']> {
  return (endpoint, answer, usage, model) => {
    const told = usageTellers[endpoint]?.(answer, usage);
    if (told === undefined || !isObject(told.usage)) return answer;
    const counts = { ...told.usage, ...(/deepseek/i.test(model) && deepSeekCounts(usage)) };
    return { ...told, usage: like.usage?.(counts, usage) ?? counts };
  };
}

/** What DeepSeek's models say about the cache wherever they are served. */
function deepSeekCounts({ input, cacheRead }: SimulatedUsage): JsonObject {
  return { prompt_cache_hit_tokens: cacheRead, prompt_cache_miss_tokens: input - cacheRead };
}

function prefixesBy(cacheOf: (model: string) => AutomaticCache): NonNullable<Dialect['prefixes']> {
  return (endpoint, body, model, limits) => {
    if (!cachedEndpoints.includes(endpoint)) return [];
    const { tools, response_format, text, instructions, prompt_cache_options: options } = body;
    // Explicit without a breakpoint is how a client switches it off.
    if (isObject(options) && options.mode === 'explicit') return [];
    const head = [tools, response_format, text];
    const prompt = [instructions, body[questionOf(endpoint)]];
    return automaticPrefixes(head, prompt, cacheOf(model), limits);
  };
}

const cachedEndpoints = ['/v1/chat/completions', '/v1/responses'];

/**
 * A line is answered whole. What OpenAI does with `stream` there is not documented for all endpoints; a
 * refusal is what lets a client's mistake show.
 */
function checkLine(endpoint: string, body: JsonObject): Outcome | null {
  if (body.stream === true) return refused('Streaming is not supported in batches.');
  return check(endpoint, body);
}
