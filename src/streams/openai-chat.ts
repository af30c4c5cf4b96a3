import { type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { liveChat } from './openai-chat-answer.ts';
import { type ChunkOptions, chunkDialect } from './openai-chunks.ts';
import type { StreamDialect } from './stream-dialect.ts';

/** A chat completion as chunks: every text and every tool call in one piece. */
export function openaiChat(options: ChunkOptions): StreamDialect {
  return Object.assign(chunkDialect('chat.completion.chunk', options, partsOf), {
    live: liveChat(options),
  });
}

/** One choice of a completion, as the choices of its chunks. */
function partsOf(choice: JsonObject, position: number): JsonObject[] {
  const { index, message, logprobs, finish_reason: reason, ...rest } = choice;
  const deltas = [...deltasOf(objectOf(message)), {}];
  const last = deltas.length - 1;
  return deltas.map((delta, at) => ({
    index: index ?? position,
    delta,
    // They are told once, with what follows the role: clients add up every list they are given.
    logprobs: at === 1 ? (logprobs ?? null) : null,
    finish_reason: at === last ? (reason ?? 'stop') : null,
    ...(at === last && rest),
  }));
}

/** Fields that are no text (annotations, audio, `reasoning_content` …) come with the role. */
function deltasOf(message: JsonObject): JsonObject[] {
  const { role, content, refusal, tool_calls: toolCalls, ...rest } = message;
  const opening = {
    role: role ?? 'assistant',
    content: typeof content === 'string' ? '' : null,
    refusal: null,
    ...rest,
    // None were called, which is not the same as no list of them.
    ...(Array.isArray(toolCalls) && toolCalls.length === 0 && { tool_calls: [] }),
  };
  const deltas: JsonObject[] = [opening];
  if (content !== '' && content !== null && content !== undefined) deltas.push({ content });
  if (typeof refusal === 'string') deltas.push({ refusal });
  objectsOf(toolCalls).forEach((toolCall, index) => {
    deltas.push(...toolDeltas(toolCall, index));
  });
  return deltas;
}

function toolDeltas(toolCall: JsonObject, index: number): JsonObject[] {
  const call = toolCall.function;
  // Only functions are told in two steps: clients replace what they do not know how to extend.
  if (call === undefined) return [{ tool_calls: [{ index, ...toolCall }] }];
  const opening = { index, ...toolCall, function: { ...objectOf(call), arguments: '' } };
  const { arguments: given } = objectOf(call);
  return [
    { tool_calls: [opening] },
    { tool_calls: [{ index, function: { arguments: given ?? '' } }] },
  ];
}
