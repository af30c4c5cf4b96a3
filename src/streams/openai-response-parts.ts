import { type JsonObject, objectsOf } from '../base/json.ts';

export type ResponseEvent = { readonly type: string } & JsonObject;

/** Whether the contents are those of a message or of reasoning: other items have other kinds. */
export function hasContent({ type, content }: JsonObject): boolean {
  return (type === 'message' || type === 'reasoning') && Array.isArray(content);
}

/** The texts inside of an item, part by part. `at` says which item it is. */
export function partEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  return [...summaryEvents(item, at), ...contentEvents(item, at)];
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
    case 'output_text': {
      const noLogprobs = 'logprobs' in part ? { logprobs: [] } : {};
      const start = { ...part, text: '', annotations: [], ...noLogprobs };
      return { start, events: textEvents(part, at) };
    }
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
