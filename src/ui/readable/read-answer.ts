import { isObject, type JsonObject } from '../../base/json.ts';
import { callOf, list, readParts } from './read-parts.ts';
import { readCall, readMessage } from './read-question.ts';
import type { Message, Readable } from './readable.ts';

const shown = ['choices', 'output', 'content', 'candidates', 'error', 'data', 'model', 'message'];

export function readAnswer(body: JsonObject): Readable {
  const settings = Object.entries(body).filter(([name]) => !shown.includes(name));
  return { messages: messagesOf(body), settings, tools: [] };
}

function messagesOf(body: JsonObject): Message[] {
  const { error } = body;
  if (error !== undefined && error !== null) {
    const text = isObject(error) ? error.message : error;
    if (typeof text === 'string') return [{ role: 'error', parts: [{ kind: 'text', text }] }];
    return [{ role: 'error', parts: [{ kind: 'json', value: error }] }];
  }
  if (Array.isArray(body.choices)) return body.choices.filter(isObject).map(readChoice);
  if (Array.isArray(body.output)) return body.output.filter(isObject).map(readItem);
  // Bedrock's Converse.
  if (isObject(body.output) && isObject(body.output.message))
    return [readMessage(body.output.message)];
  if (Array.isArray(body.candidates)) {
    return body.candidates.filter(isObject).map(({ content }) => ({
      role: 'model',
      parts: readParts(isObject(content) ? content.parts : content),
    }));
  }
  if (Array.isArray(body.content)) return [{ role: 'assistant', parts: readParts(body.content) }];
  if (Array.isArray(body.data)) return body.data.filter(isObject).map(readEmbedding);
  return [];
}

function readChoice(choice: JsonObject): Message {
  const { message, text } = choice;
  if (!isObject(message)) return { role: 'assistant', parts: readParts(text) };
  const thinking = message.reasoning_content ?? message.reasoning;
  return {
    role: String(message.role ?? 'assistant'),
    parts: [
      ...(typeof thinking === 'string' ? [{ kind: 'thinking', text: thinking } as const] : []),
      ...readParts(message.content),
      ...readParts(message.refusal),
      ...list(message.tool_calls).flatMap(readCall),
    ],
  };
}

/** One item of the Responses API. */
function readItem(item: JsonObject): Message {
  const role = String(item.role ?? 'assistant');
  if (item.type === 'function_call') return { role, parts: [callOf(item.name, item.arguments)] };
  if (item.type === 'reasoning') {
    const texts = list(item.summary).filter(isObject);
    const parts = texts.map(({ text }) => ({ kind: 'thinking', text: String(text) }) as const);
    return { role, parts };
  }
  return { role, parts: item.content ? readParts(item.content) : [{ kind: 'json', value: item }] };
}

function readEmbedding(one: JsonObject): Message {
  const { embedding, index = 0 } = one;
  if (!Array.isArray(embedding)) return { role: 'data', parts: [{ kind: 'json', value: one }] };
  const begin = embedding.slice(0, 4).join(', ');
  const text = `${embedding.length} numbers: ${begin} …`;
  return { role: `embedding ${String(index)}`, parts: [{ kind: 'text', text }] };
}
