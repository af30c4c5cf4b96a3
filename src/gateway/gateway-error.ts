import type { RegisteredBatcher } from '../batchers/registry.ts';
import type { RawAnswer } from '../hooks/border.ts';

/** Why the gateway itself refuses a request, with its HTTP status. */
const statusOf = {
  bad_request: 400,
  bad_path: 400,
  bad_header: 400,
  wrong_token: 401,
  bad_signature: 401,
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

/** Reasons that pass: an SDK should try again on its own. */
const isForLater: readonly GatewayReason[] = ['leaving', 'too_many_waiting', 'too_many_bytes'];

/** A request that the gateway refuses: the client gets it as an answer in its provider's shape. */
export class GatewayError extends Error {
  readonly status: number;
  readonly reason: GatewayReason;

  constructor(reason: GatewayReason, message: string) {
    super(message);
    this.status = statusOf[reason];
    this.reason = reason;
  }

  /** Without a provider the body has the shape that most clients know. */
  async answer(provider: RegisteredBatcher | undefined): Promise<RawAnswer> {
    const type = `batchling_${this.reason}`;
    const batcher = await provider?.load().catch(() => undefined);
    const body = batcher?.errorBody(type, this.message) ?? plainErrorBody(type, this.message);
    const retry = isForLater.includes(this.reason)
      ? { 'retry-after': '5', 'x-should-retry': 'true' }
      : { 'x-should-retry': 'false' };
    return { status: this.status, headers: { 'content-type': 'application/json', ...retry }, body };
  }

  /** The text of a whole response, for a connection on which no request could be read. */
  get rawResponse(): string {
    const body = plainErrorBody(`batchling_${this.reason}`, this.message);
    return [
      `HTTP/1.1 ${this.status} ${this.reason}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n');
  }
}

function plainErrorBody(type: string, message: string): string {
  return JSON.stringify({ error: { message, type, code: null, param: null } });
}
