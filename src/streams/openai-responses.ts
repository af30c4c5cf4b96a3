import { type JsonObject, objectOf, objectsOf } from '../base/json.ts';
import { type LiveStream, withMembers } from './live-stream.ts';
import { itemEvents } from './openai-response-items.ts';
import { typedEvent } from './sse.ts';
import { type StreamDialect, streamDialect } from './stream-dialect.ts';

const told = streamDialect((response) => {
  const unfinished = startOf(response);
  const events = [
    { type: 'response.created', response: unfinished },
    { type: 'response.in_progress', response: unfinished },
    ...objectsOf(response.output).flatMap((item, index) => itemEvents(item, index)),
    { type: lastEvent(response.status), response },
  ];
  return events.map((event, at) => typedEvent({ ...event, sequence_number: at })).join('');
});

/** The last event of a stream holds the whole response. */
const live: LiveStream = {
  ask: (body) => withMembers(body, '"stream":true'),
  newAnswer() {
    let json: JsonObject | undefined;
    return {
      add({ type, response }) {
        if (lastEvents.has(type)) json = objectOf(response);
        return true;
      },
      get json() {
        return json;
      },
    };
  },
};

/** A response as events. Clients take the last event for the truth, so nothing is lost. */
export const openaiResponses: StreamDialect = Object.assign(told, { live });

const lastEvents = new Set<unknown>([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

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
