import { type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { typedEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

type Event = { readonly type: string } & JsonObject;

interface ToldBlock {
  /** The block as it starts. */
  readonly start: JsonObject;
  readonly deltas: readonly Event[];
}

/** A message of Anthropic as events: every block with one delta for each of its texts. */
export const anthropicMessages: StreamDialect = streamDialect((message) =>
  messageEvents(message).map(typedEvent).join(''),
);

export function messageEvents(message: JsonObject): Event[] {
  const { content, usage } = message;
  const blocks = objectsOf(content).flatMap((block, index) => blockEvents(block, index));
  return [
    { type: 'message_start', message: startOf(message) },
    ...blocks,
    endOf(message, usage),
    { type: 'message_stop' },
  ];
}

/** What is not said again at the end (`service_tier`, `container` …) must be here already. */
function startOf(message: JsonObject): JsonObject {
  return {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...objectOf(message.usage), output_tokens: 1 },
  };
}

/** Clients take over these fields without a look, so each is there, if only as null. */
function endOf(message: JsonObject, usage: unknown): Event {
  const { context_management: contextManagement } = message;
  return {
    type: 'message_delta',
    delta: {
      stop_reason: message.stop_reason ?? null,
      stop_sequence: message.stop_sequence ?? null,
      stop_details: message.stop_details ?? null,
      container: message.container ?? null,
    },
    usage: objectOf(usage),
    ...(contextManagement !== undefined && { context_management: contextManagement }),
  };
}

function blockEvents(block: JsonObject, index: number): Event[] {
  const { start, deltas } = tell(block);
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

/** Results of tools, redacted thinking and whatever is new come whole. */
function tell(block: JsonObject): ToldBlock {
  switch (block.type) {
    case 'text':
      return tellText(block);
    case 'thinking':
      return tellThinking(block);
    case 'tool_use':
    case 'server_tool_use':
      return { start: { ...block, input: {} }, deltas: inputDeltas(block) };
    case 'mcp_tool_use':
      // Some clients read its input here, others in the delta, none adds the two.
      return { start: block, deltas: inputDeltas(block) };
    case 'compaction':
      return tellCompaction(block);
    default:
      return { start: block, deltas: [] };
  }
}

function tellText(block: JsonObject): ToldBlock {
  const { text, citations } = block;
  const cited = Array.isArray(citations);
  return {
    start: { ...block, text: '', ...(cited && { citations: [] }) },
    deltas: [
      ...(cited ? citations : []).map((citation) => ({ type: 'citations_delta', citation })),
      { type: 'text_delta', text: text ?? '' },
    ],
  };
}

function tellThinking(block: JsonObject): ToldBlock {
  const { thinking, signature } = block;
  const signed = signature !== undefined;
  return {
    start: { ...block, thinking: '', ...(signed && { signature: '' }) },
    deltas: [
      { type: 'thinking_delta', thinking: thinking ?? '' },
      ...(signed ? [{ type: 'signature_delta', signature }] : []),
    ],
  };
}

/** One that was asked for is signed and comes whole: clients would add a delta to what they have. */
function tellCompaction(block: JsonObject): ToldBlock {
  const { content = null, encrypted_content: encrypted, signature } = block;
  if (typeof signature === 'string') return { start: block, deltas: [] };
  const sealed = encrypted === undefined ? {} : { encrypted_content: encrypted };
  return { start: block, deltas: [{ type: 'compaction_delta', content, ...sealed }] };
}

function inputDeltas({ input }: JsonObject): Event[] {
  return [{ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }];
}
