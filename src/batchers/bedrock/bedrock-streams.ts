import { type JsonObject, objectOf, objectsOf } from '../../base/json.ts';
import { messageEvents } from '../../streams/anthropic.ts';
import { eventFrame } from '../../streams/event-frames.ts';
import { type StreamDialect, streamDialect } from '../../streams/stream-dialect.ts';

type Event = readonly [type: string, payload: JsonObject];

const contentType = 'application/vnd.amazon.eventstream';

/** An answer of Converse as events of `ConverseStream`. */
export const converseFrames: StreamDialect = framesOf(converseEvents, (payload) => payload);

/** An answer of Claude by InvokeModel: its own events, each in a chunk that is Base64. */
export const invokeFrames: StreamDialect = framesOf(
  (message) => messageEvents(message).map((event) => ['chunk', withMetrics(event, message)]),
  (payload) => JSON.stringify({ bytes: Buffer.from(payload).toString('base64') }),
);

/** Numbers are made exact in the text of the events, so frames are made of that. */
function framesOf(
  events: (answer: JsonObject) => readonly Event[],
  pack: (payload: string) => string,
): StreamDialect {
  const asLines = streamDialect(
    (answer) =>
      events(answer)
        .map(([type, payload]) => `${type} ${JSON.stringify(payload)}`)
        .join('\n'),
    contentType,
  );
  return (answer) => {
    const told = asLines(answer);
    if (told === answer) return answer;
    const frames = told.body.split('\n').map((line) => {
      const space = line.indexOf(' ');
      return eventFrame(line.slice(0, space), pack(line.slice(space + 1)));
    });
    return {
      ...told,
      headers: { ...told.headers, ...jsonInside },
      body: '',
      bytes: Buffer.concat(frames),
    };
  };
}

const jsonInside = { 'x-amzn-bedrock-content-type': 'application/json' };

function withMetrics(event: JsonObject, { usage }: JsonObject): JsonObject {
  if (event.type !== 'message_stop') return event;
  const { input_tokens: inputTokenCount = 0, output_tokens: outputTokenCount = 0 } =
    objectOf(usage);
  const metrics = { inputTokenCount, outputTokenCount, invocationLatency: 0, firstByteLatency: 0 };
  return { ...event, 'amazon-bedrock-invocationMetrics': metrics };
}

function converseEvents(answer: JsonObject): Event[] {
  const { role = 'assistant', content } = objectOf(objectOf(answer.output).message);
  const { stopReason, additionalModelResponseFields: more, usage, metrics, trace } = answer;
  return [
    ['messageStart', { role }],
    ...objectsOf(content).flatMap((block, index) => blockEvents(block, index)),
    [
      'messageStop',
      { stopReason, ...(more !== undefined && { additionalModelResponseFields: more }) },
    ],
    [
      'metadata',
      { usage, metrics: metrics ?? { latencyMs: 0 }, ...(trace !== undefined && { trace }) },
    ],
  ];
}

function blockEvents(block: JsonObject, contentBlockIndex: number): Event[] {
  const { start, deltas } = tell(block);
  return [
    ...(start ? [['contentBlockStart', { contentBlockIndex, start }] as const] : []),
    ...deltas.map((delta) => ['contentBlockDelta', { contentBlockIndex, delta }] as const),
    ['contentBlockStop', { contentBlockIndex }],
  ];
}

function tell(block: JsonObject): { start?: JsonObject; deltas: readonly JsonObject[] } {
  const { toolUse, reasoningContent, citationsContent } = block;
  if (toolUse !== undefined) {
    const { input, ...named } = objectOf(toolUse);
    return {
      start: { toolUse: named },
      deltas: [{ toolUse: { input: JSON.stringify(input ?? {}) } }],
    };
  }
  if (reasoningContent !== undefined) {
    const { reasoningText, ...others } = objectOf(reasoningContent);
    if (reasoningText === undefined) return { deltas: [{ reasoningContent: others }] };
    const parts = Object.entries(objectOf(reasoningText));
    return { deltas: parts.map(([name, value]) => ({ reasoningContent: { [name]: value } })) };
  }
  if (citationsContent !== undefined) {
    const { content, citations } = objectOf(citationsContent);
    return {
      deltas: [
        ...objectsOf(content).map(({ text }) => ({ text })),
        ...objectsOf(citations).map((citation) => ({ citation })),
      ],
    };
  }
  // Text, and whatever is new, comes whole.
  return { deltas: [block] };
}
