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
  /** Texts beside them that no message shows: the keys that a signature was made with. */
  readonly hidden?: readonly string[];
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
  /**
   * Whom a signature of ours is for (`s3/us-east-1`), where the batcher signs requests and it is not whom the base is
   * for. A signature is worth nothing elsewhere, so the request may go where no key may.
   */
  readonly audience?: string;
  /** Milliseconds without progress after which it is given up, where that is not the usual time. */
  readonly idleTimeout?: number;
  /** Its abort ends the request, or the reading of its reply. */
  readonly signal?: AbortSignal;
}

/** A request with the URL that it goes to, for the batcher that signs it. */
export interface OutgoingRequest extends WireRequest {
  readonly url: URL;
  /** The base of its wire. */
  readonly base: string;
  /** The wall time in milliseconds. */
  readonly now: number;
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
