import { types } from 'node:util';
import { decodeUtf8 } from '../../base/decode-utf8.ts';
import type { Dict } from '../../base/types.ts';
import type { BodyToCome } from '../border.ts';

/** The options of fetch, in the order in which Node reads them. */
const names = (
  'method headers body referrer referrerPolicy mode credentials cache redirect integrity keepalive ' +
  'signal window duplex dispatcher'
).split(' ');

/** The options that we read of every call, and those that a scope reads. */
const readAlways = ['signal'];
const readInScope = ['signal', 'method', 'headers', 'body', 'dispatcher'];

type Options = Readonly<Record<string, unknown>>;

/**
 * The arguments of a fetch, whose options can be read twice without anybody noticing. Options that run
 * code when they are read (a getter, a Proxy, an instance of a class) are copied, which reads them once.
 */
export function readOnce(call: readonly unknown[], isInScope: boolean): readonly unknown[] {
  const [input, options] = call;
  if (typeof options !== 'object' || options === null) return call;
  const plain: Options = isPlain(options, isInScope ? readInScope : readAlways)
    ? (options as Options)
    : copyOf(options as Options);
  const headers = isInScope ? listed(plain.headers) : plain.headers;
  if (plain === options && headers === plain.headers) return call;
  return [input, headers === undefined ? plain : { ...plain, headers }, ...call.slice(2)];
}

function copyOf(options: Options): Options {
  const copy: Record<string, unknown> = {};
  // Other libraries' wrappers of fetch have options of their own.
  for (const name of new Set([...names, ...Object.keys(options)])) {
    const value = options[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** Headers that come out of an iterator or a generator, which can be read only once, as a list. */
function listed(headers: unknown): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  if (headers instanceof Headers || Array.isArray(headers)) return headers;
  if (!(Symbol.iterator in headers)) return headers;
  return Array.from(headers as Iterable<unknown>, (pair) =>
    typeof pair === 'object' && pair !== null && Symbol.iterator in pair
      ? [...(pair as Iterable<unknown>)]
      : pair,
  );
}

function isPlain(options: object, read: readonly string[]): boolean {
  if (types.isProxy(options)) return false;
  const prototype: unknown = Object.getPrototypeOf(options);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return read.every((name) => Object.getOwnPropertyDescriptor(options, name)?.get === undefined);
}

/**
 * The URL of a POST as text, not parsed; empty for every other call. Arguments that cannot be read
 * are left to fetch, which rejects them in its own way.
 */
export function postUrl(input: string | URL | Request, init: RequestInit | undefined): string {
  try {
    if (!isPost(input, init)) return '';
    if (typeof input === 'string') return input;
    return isRequest(input) ? input.url : String(input);
  } catch {
    return '';
  }
}

function isPost(input: string | URL | Request, init: RequestInit | undefined): boolean {
  const method = init?.method ?? (isRequest(input) ? input.method : 'GET');
  return method === 'POST' || method.toUpperCase() === 'POST';
}

export function isRequest(input: unknown): input is Request {
  return typeof input === 'object' && input !== null && 'headers' in input && 'url' in input;
}

/** Lower-case names. Headers of `init` replace those of a `Request` as a whole, as in fetch. */
export function readHeaders(input: string | URL | Request, init: RequestInit | undefined): Dict {
  const source = init?.headers ?? (isRequest(input) ? input.headers : undefined);
  const headers: Record<string, string> = {};
  if (source === undefined) return headers;
  if (typeof source === 'object' && Symbol.iterator in source) {
    for (const [name, value] of source as Iterable<[string, string]>) {
      add(headers, name.toLowerCase(), String(value));
    }
    return shared(headers);
  }
  const plain = source as Record<string, string>;
  for (const name in plain) add(headers, name.toLowerCase(), String(plain[name]));
  return shared(headers);
}

/** Held weakly: there is a credential in it, which goes with the last call that has it. */
let last = new WeakRef<Dict>({});

/** Clients repeat their headers; sharing one object saves memory while thousands of calls wait. */
function shared(headers: Dict): Dict {
  const before = last.deref() ?? {};
  let names = 0;
  for (const name in headers) {
    names += 1;
    if (before[name] !== headers[name]) names = Number.NaN;
  }
  for (const _ in before) names -= 1;
  if (names === 0) return before;
  last = new WeakRef(headers);
  return headers;
}

function add(headers: Record<string, string>, name: string, value: string): void {
  const known = headers[name];
  const trimmed = value.trim();
  headers[name] = known === undefined ? trimmed : `${known}, ${trimmed}`;
}

/** The headers of a call without the one that is meant for us. */
export function withoutOurHeader(
  input: string | URL | Request,
  init: RequestInit | undefined,
): RequestInit {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { ...init, headers };
}

/** What is read of a body, and the options to send the call with if it is not captured after all. */
export interface OpenedBody {
  /** `undefined` where it is not text: a form, a binary blob. */
  readonly body: string | BodyToCome | undefined;
  readonly init: RequestInit | undefined;
}

/** The body of a `Request` is read from a clone, and that of a stream from a copy: the original can still be sent. */
export function openBody(input: string | URL | Request, init: RequestInit | undefined): OpenedBody {
  try {
    const given = init?.body;
    if (typeof given === 'string') return { body: inOnePiece(given), init };
    if (given === undefined || given === null) {
      const isReadable = isRequest(input) && input.body !== null && !input.bodyUsed;
      return { body: isReadable ? toCome(input.clone().text()) : undefined, init };
    }
    if (given instanceof ReadableStream) return openStream(given, init);
    if (given instanceof Blob && !(given.type && !/json/i.test(given.type))) {
      return { body: toCome(given.text()), init };
    }
    if (!(given instanceof ArrayBuffer || ArrayBuffer.isView(given)))
      return { body: undefined, init };
    const text = decodeUtf8(given);
    return { body: text, init: text === undefined ? init : { ...init, body: copyOfBytes(given) } };
  } catch (error) {
    // A body that is locked or used, or whose getter throws: fetch rejects, it does not throw.
    return { body: toCome(Promise.reject(error)), init };
  }
}

function toCome(text: Promise<string>): BodyToCome {
  return { text, drop: () => undefined };
}

/** Like fetch, we take a body of bytes when the call is made: its memory may be used again afterwards. */
function copyOfBytes(body: ArrayBuffer | ArrayBufferView): ArrayBuffer | Uint8Array<ArrayBuffer> {
  if (body instanceof ArrayBuffer) return body.slice(0);
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice();
}

function openStream(stream: ReadableStream<Uint8Array>, init: RequestInit | undefined): OpenedBody {
  const [ours, theirs] = stream.tee();
  const reader = ours.getReader();
  // As fetch does on an abort: the source is cancelled.
  const drop = (reason: unknown) => {
    for (const half of [reader, theirs]) half.cancel(reason).catch(() => undefined);
  };
  return { body: { text: readAll(reader), drop }, init: { ...init, body: theirs } };
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

/**
 * V8 keeps the result of `JSON.stringify` in pieces and joins them when a character is read. Reading
 * one now lets the pieces be collected; later they would live beside the joined text.
 */
function inOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(text.length - 1)) ? '' : text;
}
