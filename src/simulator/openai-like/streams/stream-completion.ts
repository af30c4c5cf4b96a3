import { isObject, type JsonObject } from '../../server/json.ts';
import { bareEvents, halves, listOf } from '../../world/model/stream-pieces.ts';

/** A text completion told as server-sent events. */
export function streamCompletion(answer: JsonObject, request: JsonObject): string {
  const { usage, choices, ...common } = answer;
  const wantsUsage = isObject(request.stream_options) && request.stream_options.include_usage;
  const chunks: JsonObject[] = listOf(choices).flatMap(({ index, text, finish_reason: reason }) => {
    const piece = (part: string, ending: unknown) => ({
      ...common,
      choices: [{ index, text: part, logprobs: null, finish_reason: ending }],
      ...(wantsUsage ? { usage: null } : {}),
    });
    return [...halves(String(text)).map((part) => piece(part, null)), piece('', reason)];
  });
  if (wantsUsage) chunks.push({ ...common, choices: [], usage });
  return bareEvents(chunks);
}
