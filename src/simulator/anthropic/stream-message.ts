import type { JsonObject } from '../server/json.ts';
import { halves, listOf, typedEvents } from '../world/model/stream-pieces.ts';

/** The same message told as server-sent events. */
export function streamMessage(message: JsonObject): string {
  const { content, usage, ...common } = message;
  const started = {
    ...common,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    usage: { ...(usage as JsonObject), output_tokens: 1 },
  };
  const events: JsonObject[] = [{ type: 'message_start', message: started }];
  for (const [index, block] of listOf(content).entries()) {
    const { opened, deltas } = tellBlock(block);
    events.push({ type: 'content_block_start', index, content_block: opened });
    events.push({ type: 'ping' });
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
    events.push({ type: 'content_block_stop', index });
  }
  const { stop_reason, stop_sequence, stop_details, container } = message;
  const delta = { stop_reason, stop_sequence, stop_details, container };
  events.push({ type: 'message_delta', delta, usage });
  events.push({ type: 'message_stop' });
  return typedEvents(events);
}

/** The block as it is announced, and what is added to it piece by piece. */
function tellBlock(block: JsonObject): { opened: JsonObject; deltas: JsonObject[] } {
  if (block.type === 'tool_use') {
    const pieces = halves(JSON.stringify(block.input ?? {}));
    const deltas = pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
    return { opened: { ...block, input: {} }, deltas };
  }
  if (typeof block.text !== 'string') return { opened: block, deltas: [] };
  const deltas = halves(block.text).map((text) => ({ type: 'text_delta', text }));
  return { opened: { ...block, text: '' }, deltas };
}
