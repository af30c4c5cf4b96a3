import type { JsonObject } from '../json.ts';

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
  for (const [index, block] of (content as JsonObject[]).entries()) {
    const text = String(block.text);
    const middle = Math.ceil(text.length / 2);
    events.push({ type: 'content_block_start', index, content_block: { ...block, text: '' } });
    events.push({ type: 'ping' });
    for (const half of [text.slice(0, middle), text.slice(middle)]) {
      const delta = { type: 'text_delta', text: half };
      events.push({ type: 'content_block_delta', index, delta });
    }
    events.push({ type: 'content_block_stop', index });
  }
  const { stop_reason, stop_sequence, stop_details, container } = message;
  const delta = { stop_reason, stop_sequence, stop_details, container };
  events.push({ type: 'message_delta', delta, usage });
  events.push({ type: 'message_stop' });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
