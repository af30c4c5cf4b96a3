import type { JsonObject } from '../base/json.ts';
import { hasContent, partEvents, type ResponseEvent } from './openai-response-parts.ts';

/**
 * How an item is told beside its start and its end. Only events that the official clients know: they
 * throw on any other. A kind that is not here is told by its start and its end alone.
 */
interface ItemKind {
  /** The one long text of such an item, and the events that tell it. */
  readonly text?: { readonly field: string; readonly event: string };
  /** What a tool of the provider goes through: the first step before its text, the others behind it. */
  readonly steps?: readonly string[];
  /** Ends that have an event of their own. */
  readonly ends?: readonly string[];
  /** What is not there before the tool has run. */
  readonly unwritten?: JsonObject;
}

const kinds: Readonly<Record<string, ItemKind>> = {
  reasoning: { unwritten: { summary: [] } },
  function_call: { text: { field: 'arguments', event: 'response.function_call_arguments' } },
  custom_tool_call: { text: { field: 'input', event: 'response.custom_tool_call_input' } },
  web_search_call: { steps: ['in_progress', 'searching'], ends: ['completed'] },
  file_search_call: {
    steps: ['in_progress', 'searching'],
    ends: ['completed'],
    unwritten: { results: null },
  },
  image_generation_call: {
    steps: ['in_progress', 'generating'],
    ends: ['completed'],
    unwritten: { result: null },
  },
  code_interpreter_call: {
    text: { field: 'code', event: 'response.code_interpreter_call_code' },
    steps: ['in_progress', 'interpreting'],
    ends: ['completed'],
    unwritten: { outputs: null },
  },
  mcp_call: {
    text: { field: 'arguments', event: 'response.mcp_call_arguments' },
    steps: ['in_progress'],
    ends: ['completed', 'failed'],
    unwritten: { output: null, error: null },
  },
  mcp_list_tools: {
    steps: ['in_progress'],
    ends: ['completed', 'failed'],
    unwritten: { tools: [], error: null },
  },
};

/** One item of a response's output, from its start to its end. */
export function itemEvents(item: JsonObject, index: number): ResponseEvent[] {
  const at = { item_id: item.id, output_index: index };
  const [first, ...later] = stepEvents(item, at);
  return [
    { type: 'response.output_item.added', output_index: index, item: startOf(item) },
    ...partEvents(item, at),
    ...(first ? [first] : []),
    ...textEvents(item, at),
    ...later,
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function kindOf({ type }: JsonObject): ItemKind {
  return (Object.hasOwn(kinds, String(type)) && kinds[String(type)]) || {};
}

/** The item before anything was written into it. */
function startOf(item: JsonObject): JsonObject {
  const { field } = textOf(item) ?? {};
  return {
    ...item,
    ...(isWork(item) && { status: 'in_progress' }),
    ...(hasContent(item) && { content: [] }),
    ...unwrittenOf(item),
    ...(field !== undefined && { [field]: '' }),
  };
}

/** The result of a tool, and what nobody knows yet, comes as it is. */
function isWork({ type, status }: JsonObject): boolean {
  return typeof status === 'string' && /^(message|reasoning)$|_call$/.test(String(type));
}

function unwrittenOf(item: JsonObject): JsonObject {
  const fields = Object.entries(kindOf(item).unwritten ?? {});
  return Object.fromEntries(fields.filter(([name]) => name in item));
}

function textOf(item: JsonObject): ItemKind['text'] {
  const { text } = kindOf(item);
  return text !== undefined && typeof item[text.field] === 'string' ? text : undefined;
}

function textEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  const found = textOf(item);
  if (found === undefined) return [];
  const { event, field } = found;
  const named = item.type === 'function_call' ? { name: item.name } : {};
  return [
    { type: `${event}.delta`, ...at, delta: item[field] },
    { type: `${event}.done`, ...at, ...named, [field]: item[field] },
  ];
}

function stepEvents(item: JsonObject, at: JsonObject): ResponseEvent[] {
  const { steps = [], ends = [] } = kindOf(item);
  const end = endOf(item);
  const taken = ends.includes(end) ? [...steps, end] : steps;
  return taken.map((step) => ({ type: `response.${item.type}.${step}`, ...at }));
}

/** Remote tools have a status only in newer answers, but always an error where they failed. */
function endOf({ status, error }: JsonObject): string {
  if (typeof status === 'string') return status;
  return error === undefined || error === null ? 'completed' : 'failed';
}
