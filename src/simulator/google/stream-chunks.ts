import { eventStreamReply, type Reply } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { halves, listOf } from '../world/model/stream-pieces.ts';

/** The same answer in pieces: server-sent events, or without `alt=sse` one JSON array. */
export function streamReply(answer: JsonObject, asEvents: boolean): Reply {
  const chunks = chunksOf(answer).map((chunk) => JSON.stringify(chunk));
  if (asEvents) return eventStreamReply(chunks.map((chunk) => `data: ${chunk}\r\n\r\n`).join(''));
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  return { status: 200, headers, body: `[${chunks.join('\n,\r\n')}\n]` };
}

/** Texts come in two pieces; why it ended stands in the last chunk. */
function chunksOf(answer: JsonObject): JsonObject[] {
  const { candidates, usageMetadata, ...common } = answer;
  const [candidate = {}] = listOf(candidates);
  const { content, finishReason, groundingMetadata, ...rest } = candidate;
  const { parts, role } = (content ?? {}) as JsonObject;
  const pieces = listOf(parts).flatMap((part) =>
    typeof part.text === 'string' ? halves(part.text).map((text) => ({ text })) : [part],
  );
  return pieces.map((part, at) => {
    const isLast = at === pieces.length - 1;
    const ending = { finishReason, ...(groundingMetadata !== undefined && { groundingMetadata }) };
    const told = { content: { parts: [part], role }, ...(isLast && ending), ...rest };
    return { candidates: [told], ...(isLast && { usageMetadata }), ...common };
  });
}
