import { type JsonObject, parseJson } from '../../base/json.ts';
/**
 * The usage and the model that the text of an answer names, in the shape that the provider's batcher reads. The last
 * word of a stream on each count wins. `undefined`: the text is no JSON.
 */
export function toldUsage(text: string, contentType: string): JsonObject | undefined {
  if (/\bevent-stream\b/i.test(contentType)) return merged(eventsIn(text));
  const json = parseJson(text);
  // Gemini streams one array where events are not asked for.
  return Array.isArray(json) ? merged(json) : objectOf(json);
}

function eventsIn(text: string): unknown[] {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return lines.map((line) => parseJson(line.slice('data:'.length)));
}

function merged(events: readonly unknown[]): JsonObject {
  const told: Record<string, unknown> = {};
  for (const event of events) {
    const { message, response } = objectOf(event) ?? {};
    // Anthropic begins with a message, OpenAI's responses end with one.
    for (const holder of [event, message, response]) {
      for (const name of ['usage', 'usageMetadata', 'model', 'modelVersion']) {
        const value = objectOf(holder)?.[name];
        if (typeof value === 'string') told[name] = value;
        else if (objectOf(value)) told[name] = { ...objectOf(told[name]), ...withoutNull(value) };
      }
    }
  }
  return told;
}

function withoutNull(value: unknown): JsonObject {
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(entries.filter(([, one]) => one !== null));
}

function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
}
