import { isObject, type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { type LiveStream, type StreamedAnswer, withMembers } from './live-stream.ts';
import type { ChunkOptions } from './openai-chunks.ts';

/** Chat completions as they come. The usage is always asked for: without it nobody knows what the answer cost. */
export function liveChat({ includeUsage }: ChunkOptions): LiveStream {
  return {
    ask: (body) => withMembers(body, '"stream":true,"stream_options":{"include_usage":true}'),
    newAnswer: () => new ChatAnswer(includeUsage),
  };
}

type Mutable = Record<string, unknown>;

/** A chat completion, from its chunks. */
class ChatAnswer implements StreamedAnswer {
  readonly #showsUsage: boolean;
  #head: JsonObject = {};
  #usage: unknown;
  readonly #choices = new Map<number, Mutable>();

  constructor(showsUsage: boolean) {
    this.#showsUsage = showsUsage;
  }

  add(chunk: JsonObject): boolean {
    const { choices, usage, object: _chunk, ...head } = chunk;
    this.#head = { ...this.#head, ...head };
    if (isObject(usage)) this.#usage = usage;
    const told = objectsOf(choices);
    for (const choice of told) this.#addChoice(choice);
    return this.#showsUsage || told.length > 0 || !isObject(usage);
  }

  get json(): JsonObject | undefined {
    const choices = [...this.#choices.values()];
    const isWhole = choices.length > 0 && choices.every((choice) => choice.finish_reason != null);
    if (!isWhole) return undefined;
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return { ...this.#head, object: 'chat.completion', choices, ...usage };
  }

  #addChoice({ index, delta, logprobs, ...rest }: JsonObject): void {
    const place = typeof index === 'number' ? index : 0;
    const empty: Mutable = { index: place, message: {}, logprobs: null, finish_reason: null };
    const choice = this.#choices.get(place) ?? empty;
    this.#choices.set(place, choice);
    merge(choice.message as Mutable, objectOf(delta));
    if (isObject(logprobs)) {
      choice.logprobs ??= {};
      merge(choice.logprobs as Mutable, logprobs);
    }
    for (const [name, value] of Object.entries(rest)) if (value != null) choice[name] = value;
  }
}

/** Fields that name something come whole; all other texts come in pieces. */
const whole = new Set(['role', 'id', 'type', 'name']);

function merge(into: Mutable, piece: JsonObject): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = into[name];
    if (name === 'tool_calls') into[name] = mergedCalls(objectsOf(before), objectsOf(value));
    else if (Array.isArray(before) && Array.isArray(value)) into[name] = [...before, ...value];
    else if (isObject(before) && isObject(value)) merge(before as Mutable, value);
    else if (typeof before === 'string' && typeof value === 'string' && !whole.has(name)) {
      into[name] = before + value;
    } else if (value !== null || before === undefined) into[name] = value;
  }
}

/** Pieces of a call to a tool have its number. */
function mergedCalls(before: readonly JsonObject[], pieces: readonly JsonObject[]): JsonObject[] {
  const calls = [...before] as Mutable[];
  for (const { index, ...piece } of pieces) {
    const place = typeof index === 'number' ? index : calls.length;
    const call = calls[place] ?? {};
    merge(call, piece);
    calls[place] = call;
  }
  return calls;
}
