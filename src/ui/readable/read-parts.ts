import { isObject, type JsonObject } from '../../base/json.ts';
import { parseShallow } from './parse-shallow.ts';
import type { Part } from './readable.ts';

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** The content of a message, in the forms of OpenAI, Anthropic and Google. */
export function readParts(content: unknown): Part[] {
  return list(content).flatMap((one) => (isObject(one) ? readPart(one) : [textOf(one)]));
}

function textOf(value: unknown): Part {
  return { kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
}

function readPart(part: JsonObject): Part[] {
  const { type, text } = part;
  if (part.thought === true && typeof text === 'string') return [{ kind: 'thinking', text }];
  if (typeof text === 'string') return [{ kind: 'text', text }];
  if (typeof part.thinking === 'string') return [{ kind: 'thinking', text: part.thinking }];
  if (typeof part.refusal === 'string') return [{ kind: 'text', text: part.refusal }];
  if (type === 'tool_use') return [callOf(part.name, part.input)];
  if (type === 'tool_result') return [resultOf(part.tool_use_id, part.content)];
  if (isObject(part.functionCall)) return [callOf(part.functionCall.name, part.functionCall.args)];
  if (isObject(part.functionResponse)) {
    return [resultOf(part.functionResponse.name, JSON.stringify(part.functionResponse.response))];
  }
  if (isObject(part.toolUse)) return [callOf(part.toolUse.name, part.toolUse.input)];
  if (isObject(part.toolResult)) {
    return [resultOf(part.toolResult.toolUseId, part.toolResult.content)];
  }
  const media = mediaOf(part);
  return [media === undefined ? { kind: 'json', value: part } : { kind: 'media', label: media }];
}

export function callOf(name: unknown, input: unknown): Part {
  return { kind: 'call', name: String(name), input: parsed(input) };
}

export function resultOf(name: unknown, content: unknown): Part {
  return { kind: 'result', name: String(name ?? ''), parts: readParts(content) };
}

/** Arguments of calls come as text that holds JSON. */
export function parsed(value: unknown): unknown {
  return typeof value === 'string' ? (parseShallow(value) ?? value) : value;
}

/** Images, sounds and files: their type and size, or where they are. Never their bytes, and never fetched. */
function mediaOf(part: JsonObject): string | undefined {
  const held = [part, part.image_url, part.source, part.inlineData, part.inline_data, part.fileData]
    .concat([part.input_audio, part.file, part.image, part.document])
    .filter(isObject);
  for (const { url, image_url, mimeType, mime_type, media_type, format, ...of } of held) {
    const address = url ?? image_url;
    const bytes = of.data ?? of.file_data ?? (isObject(of.source) ? of.source.bytes : undefined);
    const named = mimeType ?? mime_type ?? media_type ?? format ?? part.type;
    if (typeof bytes === 'string') return `${String(named)}, ${sizeOf(bytes)}`;
    if (typeof address !== 'string') continue;
    const [, type, base64] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(address) ?? [];
    return type === undefined
      ? `${String(part.type ?? 'file')} at ${address}`
      : `${type}, ${sizeOf(base64 ?? '')}`;
  }
  return undefined;
}

function sizeOf(base64: string): string {
  const bytes = Math.round((base64.length * 3) / 4);
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1_000)} KB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
