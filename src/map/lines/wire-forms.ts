import { isObject, type JsonObject, listOf } from '../../base/json.ts';

/** What people say of a request without a body of their own. */
export interface PromptTerms {
  readonly model: string;
  readonly prompt: string;
  readonly system?: string | undefined;
  readonly maxTokens?: number | undefined;
  readonly schema?: JsonObject | undefined;
}

/** How one kind of request is asked and how its answer is read. */
export interface WireForm {
  /** The path of a prompt to this model. */
  path(model: string): string;
  /** The body of a prompt; `undefined`: there is no such form, the user brings a body. */
  body?(terms: PromptTerms): JsonObject;
  /** What the model said: text, or the object of a schema where it comes as one, or the vector of an embedding. */
  answer(json: unknown): unknown;
}

/** Anthropic wants a limit. */
const usualMaxTokens = 4096;
const schemaName = 'answer';

const chat: WireForm = {
  path: () => '/chat/completions',
  body: ({ model, prompt, system, maxTokens, schema }) => ({
    model,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: prompt },
    ],
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { ...named(schema), schema } },
    }),
  }),
  answer: (json) => oneOrAll(listOf(at(json, 'choices')).map(saidIn)),
};

/** OpenAI's newer models refuse `max_tokens`. */
const openaiChat: WireForm = {
  ...chat,
  body: (terms) => {
    const { max_tokens: limit, ...body } = chat.body?.(terms) ?? {};
    return { ...body, ...(limit !== undefined && { max_completion_tokens: limit }) };
  },
};

const responses: WireForm = {
  path: () => '/responses',
  body: ({ model, prompt, system, maxTokens, schema }) => ({
    model,
    ...(system !== undefined && { instructions: system }),
    input: prompt,
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(schema && { text: { format: { type: 'json_schema', ...named(schema), schema } } }),
  }),
  answer: (json) => {
    const parts = listOf(at(json, 'output')).flatMap((item) => listOf(at(item, 'content')));
    return joined(parts.filter((part) => at(part, 'type') === 'output_text'));
  },
};

const embeddings: WireForm = {
  path: () => '/embeddings',
  body: ({ model, prompt }) => ({ model, input: prompt }),
  answer: (json) => oneOrAll(listOf(at(json, 'data')).map((item) => at(item, 'embedding'))),
};

const anthropic: WireForm = {
  path: () => '/messages',
  body: ({ model, prompt, system, maxTokens = usualMaxTokens, schema }) => ({
    model,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    messages: [{ role: 'user', content: prompt }],
    // A tool that has to be called: every model that knows tools keeps to its schema.
    ...(schema && {
      tools: [{ name: schemaName, input_schema: schema }],
      tool_choice: { type: 'tool', name: schemaName },
    }),
  }),
  answer: (json) => {
    const parts = listOf(at(json, 'content'));
    const tool = parts.find((part) => at(part, 'type') === 'tool_use');
    return tool === undefined
      ? joined(parts.filter((part) => at(part, 'type') === 'text'))
      : at(tool, 'input');
  },
};

const google: WireForm = {
  path: (model) => `/models/${model}:generateContent`,
  body: ({ prompt, system, maxTokens, schema }) => ({
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    ...((maxTokens !== undefined || schema) && {
      generationConfig: {
        ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
        ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      },
    }),
  }),
  answer: (json) => {
    const embedding = at(json, 'embedding', 'values');
    if (embedding !== undefined) return embedding;
    const candidates = listOf(at(json, 'candidates'));
    return oneOrAll(
      candidates.map((candidate) => {
        const parts = listOf(at(candidate, 'content', 'parts'));
        return joined(parts.filter((part) => at(part, 'thought') !== true));
      }),
    );
  },
};

/** A body of the user's own at a path that is not known here: the whole answer is the answer. */
const unknown: WireForm = { path: () => '', answer: (json) => json };

/** The form of requests to a provider, at a path or at the usual one. */
export function wireForm(provider: string, path: string | undefined): WireForm {
  // Vertex has models of Anthropic, too.
  if (provider === 'anthropic' || path?.includes('/publishers/anthropic/')) return anthropic;
  if (provider === 'google' || provider === 'vertex') return google;
  switch (path) {
    case undefined:
    case '/chat/completions':
      return provider === 'openai' || provider === 'azure' ? openaiChat : chat;
    case '/responses':
      return responses;
    case '/embeddings':
      return embeddings;
    case '/completions':
      return { path: () => path, answer: chat.answer };
    default:
      return unknown;
  }
}

function named(schema: JsonObject): JsonObject {
  return { name: schemaName, ...(isStrict(schema) && { strict: true }) };
}

/** Whether a schema keeps the rules of strict mode: every object closed, every property required. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  if (isObject(properties)) {
    const names = Object.keys(properties);
    if (additionalProperties !== false || !Array.isArray(required)) return false;
    if (!names.every((name) => required.includes(name))) return false;
  }
  return Object.values(schema).every(isStrict);
}

/** A body of the user's own may ask for several answers, and all of them are paid for. */
function oneOrAll(answers: readonly unknown[]): unknown {
  return answers.length > 1 ? answers : answers[0];
}

/** What a choice of a chat or a completion says. */
function saidIn(choice: unknown): unknown {
  const said = at(choice, 'message', 'content') ?? at(choice, 'text');
  // Mistral's models that reason answer in parts, their thoughts among them.
  return Array.isArray(said) ? joined(said) : said;
}

/** The texts of parts, one after another; `undefined`: there are none. */
function joined(parts: readonly unknown[]): string | undefined {
  const texts = parts.map((part) => at(part, 'text')).filter((text) => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join('');
}

function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}
