import { type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { liveGemini } from './google-answer.ts';
import { dataEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

/** An answer of Gemini as events, one for each part of it (`?alt=sse`). */
export const googleEvents: StreamDialect = Object.assign(
  streamDialect((answer) => chunksOf(answer).map(dataEvent).join('')),
  { live: liveGemini },
);

/** The same as a JSON array, which is what Gemini streams unless it is asked for events. */
export const googleArray: StreamDialect = streamDialect(
  (answer) =>
    `[${chunksOf(answer)
      .map((chunk) => JSON.stringify(chunk))
      .join(',\r\n')}]`,
  'application/json; charset=UTF-8',
);

/** Old clients add up the parts of one chunk, so each part has a chunk of its own. */
function chunksOf(answer: JsonObject): readonly JsonObject[] {
  const { candidates, usageMetadata, modelVersion, responseId, ...rest } = answer;
  const common = {
    ...(modelVersion !== undefined && { modelVersion }),
    ...(responseId !== undefined && { responseId }),
  };
  const told = objectsOf(candidates).flatMap((candidate) => piecesOf(candidate));
  // A prompt that was blocked has no candidates.
  if (told.length === 0) return [answer];
  const last = told.length - 1;
  return told.map((candidate, at) => ({
    candidates: [candidate],
    ...(at === last && { ...rest, ...(usageMetadata !== undefined && { usageMetadata }) }),
    ...common,
  }));
}

/** One candidate in pieces; why it ended and all else that is said of it comes with the last. */
function piecesOf(candidate: JsonObject): JsonObject[] {
  const { content, index, ...rest } = candidate;
  const { parts, ...about } = objectOf(content);
  const list = objectsOf(parts);
  if (list.length < 2) return [candidate];
  const place = index === undefined ? {} : { index };
  const last = list.length - 1;
  return list.map((part, at) => ({
    content: { ...about, parts: [part] },
    ...(at === last && rest),
    ...place,
  }));
}
