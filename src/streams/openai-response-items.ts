import { type JsonObject, objectsOf } from './json.ts';

export type ResponseEvent = { readonly type: string } & JsonObject;

/**
 * The one long text of an item, by its type, and the events that tell it. Only events that the
 * official clients know: they throw on any other.
 */
const longTexts: Readonly<Record<string, { readonly field: string; readonly event: string }>> = {
  function_call: { field: 'arguments', event: 'response.function_call_arguments' },
  mcp_call: { field: 'arguments', event: 'response.mcp_call_arguments' },
  custom_tool_call: { field: 'input', event: 'response.custom_tool_call_input' },
  code_interpreter_call: { field: 'code', event: 'response.code_interpreter_call_code' },
};

/** One item of a response's output, from its start to its end. */
export function itemEvents(item: JsonObject, index: number): ResponseEvent[] {
  const at = { item_id: item.id, output_index: index };
  return [
    { type: 'response.output_item.added', output_index: index, item: startOf(item) },
    ...summaryEvents(item, at),
    ...contentEvents(item, at),
    ...longTextEvents(item, at),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

/** The item before anything was written into it. */
function startOf(item: JsonObject): JsonObject {
  const { field } = longTextOf(item) ?? {};
  return {
    ...item,
    ...('status' in item && { status: 'in_progress' }),
    ...(hasContent(item) && { content: [] }),
    ...(item.type === 'reasoning' && { summary: [] }),
    ...(field !== undefined && { [field]: '' }),
  };
}

function hasContent({ type, content }: JsonObject): boolean {
  return (type === 'message' || type === 'reasoning') && Array.isArray(content);
}

function longTextOf(item: JsonObject) {
  const found = longTexts[String(item.type)];
  return found !== undefined && typeof item[found.field] === 'string' ? found : undefined;
}

function longTextEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  const found = longTextOf(item);
  if (found === undefined) return [];
  const { event, field } = found;
  const named = item.type === 'function_call' ? { name: item.name } : {};
  return [
    { type: `${event}.delta`, ...at, delta: item[field] },
    { type: `${event}.done`, ...at, ...named, [field]: item[field] },
  ];
}

function summaryEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  if (item.type !== 'reasoning') return [];
  return objectsOf(item.summary).flatMap((part, index) => {
    const here = { ...at, summary_index: index };
    const { text } = part;
    return [
      { type: 'response.reasoning_summary_part.added', ...here, part: { ...part, text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...here, delta: text },
      { type: 'response.reasoning_summary_text.done', ...here, text },
      { type: 'response.reasoning_summary_part.done', ...here, part },
    ];
  });
}

function contentEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  if (!hasContent(item)) return [];
  return objectsOf(item.content).flatMap((part, index) => {
    const here = { ...at, content_index: index };
    const { start, events } = tellPart(part, here);
    return [
      { type: 'response.content_part.added', ...here, part: start },
      ...events,
      { type: 'response.content_part.done', ...here, part },
    ];
  });
}

function tellPart(
  part: JsonObject,
  at: JsonObject,
): { start: JsonObject; events: ResponseEvent[] } {
  switch (part.type) {
    case 'output_text':
      return { start: { ...part, text: '', annotations: [] }, events: textEvents(part, at) };
    case 'refusal': {
      const { refusal } = part;
      const delta = { type: 'response.refusal.delta', ...at, delta: refusal };
      const done = { type: 'response.refusal.done', ...at, refusal };
      return { start: { ...part, refusal: '' }, events: [delta, done] };
    }
    case 'reasoning_text': {
      const { text } = part;
      const delta = { type: 'response.reasoning_text.delta', ...at, delta: text };
      const done = { type: 'response.reasoning_text.done', ...at, text };
      return { start: { ...part, text: '' }, events: [delta, done] };
    }
    default:
      return { start: part, events: [] };
  }
}

function textEvents({ text, annotations, logprobs = [] }: JsonObject, at: JsonObject) {
  return [
    { type: 'response.output_text.delta', ...at, delta: text, logprobs },
    ...objectsOf(annotations).map((annotation, index) => ({
      type: 'response.output_text.annotation.added',
      ...at,
      annotation_index: index,
      annotation,
    })),
    { type: 'response.output_text.done', ...at, text, logprobs },
  ];
}
