import { demands } from '../openai-like/answers/demand.ts';
import { answerBy } from '../openai-like/dialect.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { type Demand, plainText } from '../world/model/content.ts';
import type { Dialect } from '../world/model/execute.ts';
import { estimateTokens, lastUserText } from '../world/model/prompt.ts';
import { answers } from './answers.ts';
import { tellUsage } from './usage.ts';

/** By endpoint: the fields one of which a request must have. */
const questions: Record<string, readonly string[]> = {
  '/v1/chat/completions': ['messages'],
  '/v1/fim/completions': ['prompt'],
  '/v1/ocr': ['document'],
  '/v1/conversations': ['inputs'],
  '/v1/audio/transcriptions': ['file_url', 'file_id'],
};

function questionOf(endpoint: string, body: JsonObject): unknown {
  const names = questions[endpoint] ?? ['input'];
  const name = names.find((one) => body[one] !== undefined);
  return name === undefined ? undefined : body[name];
}

export function promptOf(endpoint: string, body: JsonObject): string {
  const question = questionOf(endpoint, body);
  if (endpoint === '/v1/ocr') return documentOf(question);
  if (endpoint === '/v1/chat/classifications') return lastUserText(conversationsIn(question));
  return lastUserText(endpoint === '/v1/chat/moderations' ? [question].flat(2) : question);
}

function documentOf(document: unknown): string {
  if (!isObject(document)) return '';
  const { document_url: url, image_url: image, file_id: file } = document;
  return String(url ?? (isObject(image) ? image.url : image) ?? file ?? '');
}

function conversationsIn(input: unknown): unknown[] {
  return [input].flat().flatMap((one) => (isObject(one) ? one.messages : []));
}

function check(endpoint: string, body: JsonObject): Outcome | null {
  if (typeof body.model !== 'string') return missing('model');
  if (questionOf(endpoint, body) === undefined) return missing(questions[endpoint]?.[0] ?? 'input');
  return null;
}

function missing(field: string): Outcome {
  return { kind: 'refused', status: 422, message: 'Field required', param: field };
}

/** A line is answered whole, by a model, and leaves nothing behind. */
function checkLine(endpoint: string, body: JsonObject): Outcome | null {
  if (body.stream !== undefined) return refused('stream is not supported in batches');
  if (body.agent_id !== undefined) return refused('a job cannot have a model and an agent');
  return check(endpoint, body);
}

function refused(message: string): Outcome {
  return { kind: 'refused', status: 400, message };
}

const textEndpoints = [
  '/v1/fim/completions',
  '/v1/ocr',
  '/v1/conversations',
  '/v1/audio/transcriptions',
];

function demandOf(endpoint: string, body: JsonObject): Demand | null {
  if (textEndpoints.includes(endpoint)) return plainText;
  if (endpoint !== '/v1/chat/completions') return null;
  // Mistral's `any` is `required` at OpenAI.
  const choice = body.tool_choice === 'any' ? 'required' : body.tool_choice;
  return demands[endpoint]?.({ ...body, tool_choice: choice }) ?? null;
}

export const realtimeDialect: Dialect = {
  provider: 'mistral',
  prompt: promptOf,
  check,
  unknownModel: (model) => refused(`Invalid model: ${model}`),
  demand: demandOf,
  answer: answerBy(answers),
  encode: (_endpoint, _body, given) => given,
  inputTokens: (endpoint, body) => estimateTokens(questionOf(endpoint, body)),
  tellUsage: (endpoint, answer, usage) => tellUsage(endpoint, answer, usage),
};

export const batchDialect: Dialect = { ...realtimeDialect, check: checkLine };
