import { type JsonObject, objectsOf } from './json.ts';
import { itemEvents } from './openai-response-items.ts';
import { typedEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

/** A response as events. Clients take the last event for the truth, so nothing is lost. */
export const openaiResponses: StreamDialect = streamDialect((response) => {
  const unfinished = startOf(response);
  const events = [
    { type: 'response.created', response: unfinished },
    { type: 'response.in_progress', response: unfinished },
    ...objectsOf(response.output).flatMap((item, index) => itemEvents(item, index)),
    { type: lastEvent(response.status), response },
  ];
  return events.map((event, at) => typedEvent({ ...event, sequence_number: at })).join('');
});

/** The response before anything has happened. */
function startOf(response: JsonObject): JsonObject {
  // A convenience of some services, which clients would add to.
  const { output_text: _text, ...rest } = response;
  return {
    ...rest,
    status: 'in_progress',
    output: [],
    usage: null,
    error: null,
    incomplete_details: null,
    completed_at: null,
  };
}

function lastEvent(status: unknown): string {
  return status === 'incomplete' || status === 'failed'
    ? `response.${status}`
    : 'response.completed';
}
