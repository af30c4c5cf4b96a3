import type { ServerResponse } from 'node:http';
import type { Dict } from '../base/types.ts';
import type { RegisteredBatcher } from '../batchers/registry.ts';

/** Why the gateway itself refuses a request, with its HTTP status. */
const statusOf = {
  bad_request: 400,
  bad_path: 400,
  bad_header: 400,
  wrong_token: 401,
  budget: 402,
  no_credential: 403,
  foreign_page: 403,
  not_found: 404,
  wrong_method: 405,
  too_slow: 408,
  gone: 410,
  body_too_large: 413,
  wrong_host: 421,
  too_many_waiting: 429,
  too_many_connections: 429,
  too_many_bytes: 429,
  headers_too_large: 431,
  cancelled: 499,
  failed: 500,
  not_supported: 501,
  unreachable: 502,
  leaving: 503,
} as const;

export type GatewayReason = keyof typeof statusOf;

/** A request that the gateway refuses: the client gets it as an answer in its provider's shape. */
export class GatewayError extends Error {
  readonly status: number;
  readonly reason: GatewayReason;
  readonly headers: Dict;

  constructor(reason: GatewayReason, message: string, headers: Dict = {}) {
    super(message);
    this.status = statusOf[reason];
    this.reason = reason;
    this.headers = headers;
  }

  /** The error body of this provider; without one, the shape that most clients know. */
  async body(provider: RegisteredBatcher | undefined): Promise<string> {
    const type = `batchling_${this.reason}`;
    const batcher = await provider?.load().catch(() => undefined);
    return batcher?.errorBody(type, this.message) ?? plainErrorBody(type, this.message);
  }
}

export function plainErrorBody(type: string, message: string): string {
  return JSON.stringify({ error: { message, type, code: null, param: null } });
}

/** Whether an SDK should try again on its own. */
function invitation({ reason }: GatewayError): Dict {
  const isForLater: readonly GatewayReason[] = ['leaving', 'too_many_waiting', 'too_many_bytes'];
  return isForLater.includes(reason)
    ? { 'retry-after': '5', 'x-should-retry': 'true' }
    : { 'x-should-retry': 'false' };
}

/** Sends the error, unless the response has begun already. */
export async function sendError(
  response: ServerResponse,
  error: GatewayError,
  provider?: RegisteredBatcher,
): Promise<void> {
  const body = await error.body(provider);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // The rest of the request is read and thrown away, for as long as a request may take: a client that is still
  // sending would see a reset connection in place of the answer.
  response.req.resume();
  const length = Buffer.byteLength(body);
  response.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': length,
    ...invitation(error),
    ...error.headers,
  });
  response.end(body);
}

/** The same for a connection on which no request could be read. */
export function rawError(error: GatewayError): string {
  const body = plainErrorBody(`batchling_${error.reason}`, error.message);
  return [
    `HTTP/1.1 ${error.status} ${error.reason}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}
