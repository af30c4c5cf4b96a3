import { decodeUtf8 } from '../base/decode-utf8.ts';
import type { Dict } from '../base/types.ts';
import type { AnswerWith, HookedCall, RawAnswer } from './border.ts';

/** A complete POST as it stands on the wire. */
export interface RawRequest {
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Dict;
  readonly body: Uint8Array;
  /** Its client checks the server itself, so the request cannot be batched; its body may be missing. */
  readonly checksServer?: boolean;
  /** See `HookedCall`. */
  answered(): Promise<number | undefined>;
}

export type RawCall = HookedCall<RawAnswer | undefined>;

/** The call of a client that does not use fetch. Answered with `undefined`, the client sends it itself. */
export function rawCall(request: RawRequest, signal: AbortSignal | undefined): RawCall {
  const { url, headers, checksServer = false } = request;
  const readBody = () => decodeUtf8(request.body);
  return {
    url,
    signal,
    endsAtDeadline: true,
    checksServer,
    readHeaders: () => headers,
    textOfBody: readBody,
    readBody,
    send: () => Promise.resolve(undefined),
    answered: () => request.answered(),
    answerWith: answerRaw,
    release: () => undefined,
  };
}

export const answerRaw: AnswerWith<RawAnswer | undefined> = ({ status, body, bytes }, headers) => ({
  status,
  headers,
  body: bytes instanceof Uint8Array ? bytes : body,
});
