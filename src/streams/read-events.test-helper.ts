import type { Answer } from '../base/types.ts';

export interface ToldEvent {
  readonly name: string | undefined;
  readonly data: unknown;
}

/** The events of an answer, read strictly: an optional name, one line of data, a blank line. */
export function eventsOf({ body }: Answer): ToldEvent[] {
  const blocks = body.split('\n\n');
  if (blocks.pop() !== '') throw new Error('The last event has no end');
  return blocks.map((block) => {
    const found = /^(?:event: ([a-z_.]+)\n)?data: (.*)$/.exec(block);
    if (found === null) throw new Error(`Not an event: ${block}`);
    const text = found[2] as string;
    return { name: found[1], data: text === '[DONE]' ? text : JSON.parse(text) };
  });
}

/** A 200 as a batch line gives it. */
export function answerOf(json: unknown): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req_1' },
    body: JSON.stringify(json),
  };
}
