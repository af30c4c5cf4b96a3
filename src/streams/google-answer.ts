import { isObject, type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import type { LiveStream, StreamedAnswer } from './live-stream.ts';

/** Answers of Gemini as they come, as events. Whether they are streamed is said by the path. */
export const liveGemini: LiveStream = {
  path: (path) => {
    const streamed = path.replace(/:generateContent(?=\?|$)/, ':streamGenerateContent');
    return `${streamed}${streamed.includes('?') ? '&' : '?'}alt=sse`;
  },
  ask: (body) => body,
  newAnswer: () => new GeminiAnswer(),
};

type Mutable = Record<string, unknown>;

/** An answer of Gemini, from its chunks. */
class GeminiAnswer implements StreamedAnswer {
  #head: JsonObject = {};
  #usage: JsonObject | undefined;
  readonly #candidates = new Map<number, Mutable>();

  add({ candidates, usageMetadata, ...head }: JsonObject): boolean {
    this.#head = { ...this.#head, ...head };
    // Each chunk counts from the beginning; a detail may stand in one of them alone.
    if (isObject(usageMetadata)) this.#usage = { ...this.#usage, ...usageMetadata };
    for (const candidate of objectsOf(candidates)) this.#addCandidate(candidate);
    return true;
  }

  get json(): JsonObject | undefined {
    const candidates = [...this.#candidates.values()];
    const isBlocked = objectOf(this.#head.promptFeedback).blockReason !== undefined;
    const isWhole = candidates.length > 0 && candidates.every(hasEnded);
    if (!isWhole && !isBlocked) return undefined;
    const told = candidates.length > 0 ? { candidates } : {};
    const usage = this.#usage === undefined ? {} : { usageMetadata: this.#usage };
    return { ...told, ...usage, ...this.#head };
  }

  #addCandidate({ content, logprobsResult, ...rest }: JsonObject): void {
    const place = typeof rest.index === 'number' ? rest.index : 0;
    const candidate = this.#candidates.get(place) ?? {};
    this.#candidates.set(place, candidate);
    if (isObject(content)) candidate.content = joined(objectOf(candidate.content), content);
    if (isObject(logprobsResult)) {
      candidate.logprobsResult = withLonger(objectOf(candidate.logprobsResult), logprobsResult);
    }
    Object.assign(candidate, rest);
  }
}

function hasEnded({ finishReason }: Mutable): boolean {
  return typeof finishReason === 'string';
}

function joined(
  { parts: before, ...head }: JsonObject,
  { parts, ...more }: JsonObject,
): JsonObject {
  const list: JsonObject[] = [...objectsOf(before)];
  for (const part of objectsOf(parts)) {
    const last = list.at(-1);
    if (last && isPlainText(last) && isPlainText(part) && last.thought === part.thought) {
      list[list.length - 1] = { ...last, text: `${last.text}${part.text}` };
    } else list.push(part);
  }
  return { ...head, ...more, parts: list };
}

/** A text that goes on in the next part: one with a signature, or anything else besides, stands alone. */
function isPlainText({ text, thought: _thought, ...rest }: JsonObject): boolean {
  return typeof text === 'string' && Object.keys(rest).length === 0;
}

/** The lists of all chunks, one behind the other. */
function withLonger(before: JsonObject, piece: JsonObject): JsonObject {
  const longer = { ...before, ...piece };
  for (const [name, value] of Object.entries(piece)) {
    const list = before[name];
    if (Array.isArray(list) && Array.isArray(value)) longer[name] = [...list, ...value];
  }
  return longer;
}
