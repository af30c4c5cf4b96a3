import { type JsonObject, objectOf, objectsOf } from './json.ts';
import { dataEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

interface ChatOptions {
  /** `stream_options.include_usage` of the request: a last chunk tells the tokens. */
  readonly includeUsage: boolean;
}

/** A chat completion as chunks: every text and every tool call in one piece. */
export function openaiChat({ includeUsage }: ChatOptions): StreamDialect {
  return streamDialect((completion) => {
    const { choices, usage, ...rest } = completion;
    const common = { ...rest, object: 'chat.completion.chunk' };
    const noUsage = includeUsage ? { usage: null } : {};
    const parts = objectsOf(choices).flatMap((choice, position) => partsOf(choice, position));
    const chunks = parts.map((part) => ({ ...common, choices: [part], ...noUsage }));
    // Without a choice there is still something to tell: some services put an error here.
    const told: JsonObject[] =
      chunks.length > 0 ? chunks : [{ ...common, choices: [], ...noUsage }];
    if (includeUsage) told.push({ ...common, choices: [], usage: usage ?? null });
    return `${told.map(dataEvent).join('')}data: [DONE]\n\n`;
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
    // With what follows the role, whatever that is: clients add up every list they are given.
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
