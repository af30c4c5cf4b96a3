import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  ClientSessionRequestOptions,
  OutgoingHttpHeaders,
} from 'node:http2';
import { currentScope } from '../state.ts';
import { type HeldStream, holdStream } from './held-stream.ts';
import { isOff, withoutOurs } from './stream-facts.ts';

/** Where the requests of a session go. */
export interface SessionPlace {
  readonly origin: string;
  /** Its client has a check of the server's certificate of its own. */
  readonly checksServer: boolean;
}

/** A request of a session, begun. */
interface BegunRequest {
  readonly stream: ClientHttp2Stream;
  /** The scope is asked before the request goes out. */
  readonly held?: HeldStream;
}

/** Begins a request as the current scope wants it. `session`: gives the one that the client knows. */
export function beginRequest(
  { origin, checksServer }: SessionPlace,
  headers: OutgoingHttpHeaders,
  options: ClientSessionRequestOptions | undefined,
  session: ClientHttp2Session,
  send: ClientHttp2Session['request'],
): BegunRequest {
  const { ':method': method, ':path': path = '/', ...others } = headers;
  const scope = isOff(headers) ? undefined : currentScope();
  const url = `${origin}${String(path)}`;
  const plan = scope?.planRequest(String(method), url, checksServer) ?? 'leave';
  const open = () => send(withoutOurs(headers), options);
  if (plan !== 'hold' || scope === undefined) {
    const refusal = typeof plan === 'object' && plan.isCertain ? plan.judge({}, '') : undefined;
    const stream = open();
    if (refusal) stream.destroy(refusal);
    return { stream };
  }
  const held = holdStream({ scope, url, headers: others, options, open });
  const { stream } = held;
  const get = () => (stream.destroyed ? undefined : session);
  Object.defineProperty(stream, 'session', { get, configurable: true });
  return { stream: stream as unknown as ClientHttp2Stream, held };
}

/**
 * A native session with a host that nobody has named. An LLM call that goes there is reported, and answered here where
 * that is an error.
 */
export function watchRequests(session: ClientHttp2Session, place: SessionPlace): void {
  const send = session.request.bind(session);
  const value = (headers: OutgoingHttpHeaders = {}, options?: ClientSessionRequestOptions) =>
    beginRequest(place, headers, options, session, send).stream;
  Object.defineProperty(session, 'request', { value, configurable: true, writable: true });
}
