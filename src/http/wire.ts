import type { Clock, Dict } from '../base/types.ts';

/** A body whose length is known before its first byte is made, readable more than once. */
export interface StreamedBody {
  readonly length: number;
  chunks(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Headers and query that prove the identity of the client. They go to declared origins only. */
export interface Credentials {
  readonly headers?: Dict;
  /** Query parameters. */
  readonly query?: Dict;
}

/** One request of ours to a provider. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Joined to `Wire.base` when it starts with `/`; otherwise an absolute URL. */
  readonly path: string;
  readonly headers?: Dict;
  readonly body?: string | Uint8Array | StreamedBody;
  /**
   * The URL is signed: it is its own permission, and a secret. No credentials go along, not even to an origin
   * that may see them, and no message shows more of it than its host.
   */
  readonly signed?: true;
}

/** What a provider answered, its body yet to be read. */
export interface WireReply {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Dict;
  /** Body bytes as they come. A break in the middle throws `UnknownOutcomeError`. */
  bytes(): AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  /** The parsed body. Not JSON: `UnknownOutcomeError` that shows the first bytes. */
  json(): Promise<unknown>;
  /** Throws the rest away so that the connection can be used again. */
  discard(): Promise<void>;
}

/**
 * The only door to the network, one per (account, base). It adds the credentials for declared
 * origins only, follows no redirect and retries nothing. What goes wrong is a `NotSentError`, an
 * `UnknownOutcomeError`, or a reply with its status.
 */
export interface Wire {
  /** What stands before all paths. Its query, if it has one, goes along with every request. */
  readonly base: string;
  readonly clock: Clock;
  /** The text without the credentials of this wire: a provider may echo them in an error. */
  redact(text: string): string;
  send(request: WireRequest): Promise<WireReply>;
}
