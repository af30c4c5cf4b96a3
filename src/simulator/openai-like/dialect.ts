import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import type { Dialect } from '../world/model/execute.ts';
import { estimateTokens, lastUserText } from '../world/model/prompt.ts';
import { type Answer, answers } from './answers/answers.ts';
import { demands } from './answers/demand.ts';
import { encodeEmbeddings } from './answers/embeddings.ts';

export const realtimeEndpoints = Object.keys(answers);

const questionField: Record<string, string> = {
  '/v1/chat/completions': 'messages',
  '/v1/completions': 'prompt',
  '/v1/images/generations': 'prompt',
  '/v1/images/edits': 'prompt',
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

export function realtimeDialect(provider: string): Dialect {
  return { provider, ...common };
}

export function batchDialect(provider: string): Dialect {
  return { provider, ...common, check: checkLine };
}

/**
 * A line is answered whole. What OpenAI does with `stream` there is not documented for all endpoints; a
 * refusal is what lets a client's mistake show.
 */
function checkLine(endpoint: string, body: JsonObject): Outcome | null {
  if (body.stream === true) return refused('Streaming is not supported in batches.');
  return check(endpoint, body);
}
