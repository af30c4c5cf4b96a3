import { type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { dataEvent } from './sse.ts';
import { streamDialect } from './stream-dialect.ts';

/**
 * A completion as Mistral's chunks: every text in one piece. Unlike OpenAI's, a tool call comes whole, and the
 * last chunk tells the tokens, whether they were asked for or not. Its SDK insists on both.
 */
export const mistralChat = streamDialect((completion) => {
  const { choices, usage, ...rest } = completion;
  const common = { ...rest, object: 'chat.completion.chunk' };
  const parts = objectsOf(choices).flatMap(partsOf);
  const told = (parts.length > 0 ? parts.map((part) => [part]) : [[]]).map(
    (group): JsonObject => ({ ...common, choices: group }),
  );
  const last = told.length - 1;
  const chunks = told.map((chunk, at) => (at === last && usage ? { ...chunk, usage } : chunk));
  return `${chunks.map(dataEvent).join('')}data: [DONE]\n\n`;
});

/** One choice of a completion, as the choices of its chunks. */
function partsOf(choice: JsonObject, position: number): JsonObject[] {
  const { index, message, finish_reason: reason, ...rest } = choice;
  const deltas = deltasOf(objectOf(message));
  const last = deltas.length - 1;
  return deltas.map((delta, at) => ({
    index: index ?? position,
    delta,
    finish_reason: at === last ? (reason ?? 'stop') : null,
    ...(at === last && rest),
  }));
}

function deltasOf(message: JsonObject): JsonObject[] {
  const { role, content, tool_calls: calls, ...rest } = message;
  const deltas: JsonObject[] = [{ role: role ?? 'assistant', content: '', ...rest }];
  if (content !== '' && content !== null && content !== undefined) deltas.push({ content });
  const toolCalls = objectsOf(calls).map((call, index) => ({ index, ...call }));
  deltas.push({ content: '', ...(toolCalls.length > 0 && { tool_calls: toolCalls }) });
  return deltas;
}
