import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { messageOf } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import { assertLength, tooLarge } from '../admission/read-request-body.ts';
import { GatewayError } from '../gateway-error.ts';
import type { WaitingResponse } from '../waiting/waiting-response.ts';
import { answeredHeaders } from './forwarded-headers.ts';

/** SDKs wait so long for an ordinary answer. */
const patience = 10 * 60_000;

export interface PassedCall {
  readonly url: string;
  readonly headers: Dict;
  /** The body, if it was read already; `undefined`: it is streamed. */
  readonly body: Buffer | undefined;
  /** The response of a client that has waited, and may have been told already that a stream comes. */
  readonly waiting?: WaitingResponse | undefined;
  /** Looks at the answer while it goes to the client. */
  readonly watch: (answer: Dispatcher.ResponseData) => void;
}

/** Sends calls that are not batched to their provider as they are, and its answers back as they come. */
export class PassThrough {
  readonly #bodySize: number;
  #agent: Promise<Dispatcher> | undefined;

  constructor(bodySize: number) {
    this.#bodySize = bodySize;
  }

  /** `answered` is told the status as soon as it is known. */
  async send(
    request: IncomingMessage,
    response: ServerResponse,
    { url, headers, body, waiting, watch }: PassedCall,
    answered: (status: number | undefined) => void = () => undefined,
  ): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (response.destroyed) return;
    assertLength(request, this.#bodySize);
    this.#agent ??= openAgent();
    const agent = await this.#agent;
    const method = request.method as Dispatcher.HttpMethod;
    const { origin, pathname, search } = new URL(url);
    let answer: Dispatcher.ResponseData;
    try {
      // Redirects are not followed: a credential goes to no other host than its provider's.
      answer = await agent.request({
        origin,
        path: `${pathname}${search}`,
        method,
        headers: sentHeaders(headers, body?.length ?? request.headers['content-length'], waiting),
        body: body ?? (hasBody(request) ? limited(request, this.#bodySize) : null),
        signal: gone.signal,
        headersTimeout: patience,
        bodyTimeout: patience,
      });
    } catch (error) {
      answered(undefined);
      if (error instanceof GatewayError) throw error;
      throw new GatewayError('unreachable', `${origin} did not answer: ${messageOf(error)}`);
    }
    answered(answer.statusCode);
    const isStream = answer.statusCode < 400;
    if (waiting?.hasBegun && !isStream) {
      const text = await answer.body.text().catch(messageOf);
      waiting.end({ status: answer.statusCode, headers: {}, body: text });
      return;
    }
    if (!waiting?.hasBegun) begin(response, answer);
    watch(answer);
    // A body that breaks off there breaks off here.
    await pipeline(answer.body, response).catch(() => response.destroy());
  }

  async close(): Promise<void> {
    await (await this.#agent?.catch(() => undefined))?.destroy();
  }
}

async function openAgent(): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await import('undici');
  return new EnvHttpProxyAgent();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** The size of a body without a length is known only while it is read. */
function limited(request: IncomingMessage, most: number): Transform {
  let size = 0;
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length;
      if (size > most) done(tooLarge(most));
      else done(null, piece);
    },
  });
  request.once('error', (error) => counted.destroy(error));
  return request.pipe(counted);
}

function sentHeaders(
  headers: Dict,
  length: number | string | undefined,
  waiting: WaitingResponse | undefined,
): Dict {
  if (length === undefined) return headers;
  const sized = { ...headers, 'content-length': String(length) };
  // The head of that stream has gone out, and names no encoding.
  return waiting?.hasBegun ? { ...sized, 'accept-encoding': 'identity' } : sized;
}

function begin(response: ServerResponse, { statusCode, headers, body }: Dispatcher.ResponseData) {
  try {
    // A provider that is a gateway itself knows better.
    const source = { 'x-batchling-source': 'realtime' };
    response.writeHead(statusCode, { ...source, ...answeredHeaders(headers) });
  } catch (error) {
    // A header that we cannot hand on: nobody reads the rest.
    body.destroy();
    throw error;
  }
}
