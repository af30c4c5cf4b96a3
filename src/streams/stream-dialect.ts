import { isObject, type JsonObject, objectOf, parseJson } from '../base/json.ts';
import type { Answer } from '../base/types.ts';
import { withExactNumbers } from './exact-numbers.ts';
import type { LiveStream } from './live-stream.ts';

/**
 * Turns a 2xx JSON answer into the event stream that the caller asked for. Errors are left as they
 * are: clients expect them as plain JSON, whether they stream or not.
 *
 * @example
 * const dialect: StreamDialect = (answer) => ({
 *   status: answer.status,
 *   headers: { ...answer.headers, 'content-type': 'text/event-stream' },
 *   body: `data: ${answer.body}\n\n`,
 * });
 */
export type StreamDialect = ((answer: Answer) => Answer) & {
  /** How an ordinary call is streamed and kept; missing: its answer is asked for in one piece. */
  readonly live?: LiveStream;
};

/** A dialect, given how it tells a parsed answer as the text of a stream: of events, as a rule. */
export function streamDialect(
  tell: (json: JsonObject) => string,
  contentType = 'text/event-stream; charset=utf-8',
): StreamDialect {
  return (answer) => {
    const json = isSuccess(answer) ? (answer.json ?? parseJson(answer.body)) : undefined;
    if (!isObject(json)) return answer;
    return {
      status: answer.status,
      headers: { ...answer.headers, 'content-type': contentType },
      body: withExactNumbers(answer.body, json, (told) => tell(objectOf(told))),
    };
  };
}

export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}
