import type { JsonObject } from '../base/json.ts';

/** A stream that is passed on as it comes, and whose events make up the answer that is stored. */
export interface LiveStream {
  /** The path and query of the call that asks for a stream; missing: those of the call that does not. */
  path?(path: string): string;
  /** The body of a call, which is an object with members, as one that asks for a stream. */
  ask(body: string): string;
  newAnswer(): StreamedAnswer;
}

/** The answer that the events of a stream tell. */
export interface StreamedAnswer {
  /** Whether the caller is to see this event: it may be one that only we have asked for. */
  add(event: JsonObject): boolean;
  /** The answer in one piece; `undefined`: the stream has not told all of it. */
  readonly json: JsonObject | undefined;
}

/** Adds members at the beginning of the object that `body` holds. */
export function withMembers(body: string, members: string): string {
  return body.replace('{', `{${members},`);
}
