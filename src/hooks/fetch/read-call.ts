import type { Dict } from '../../base/types.ts';

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

let last: Dict = {};

/** Clients repeat their headers; sharing one object saves memory while thousands of calls wait. */
function shared(headers: Dict): Dict {
  let names = 0;
  for (const name in headers) {
    names += 1;
    if (last[name] !== headers[name]) names = Number.NaN;
  }
  for (const _ in last) names -= 1;
  if (names !== 0) last = headers;
  return last;
}

function add(headers: Record<string, string>, name: string, value: string): void {
  const known = headers[name];
  const trimmed = value.trim();
  headers[name] = known === undefined ? trimmed : `${known}, ${trimmed}`;
}

/**
 * The body as text, or `undefined` where it is not text: a form, a stream, a binary blob. The body of
 * a `Request` is read from a clone, so that the original can still be sent.
 */
export function readBody(
  input: string | URL | Request,
  init: RequestInit | undefined,
): string | undefined | Promise<string | undefined> {
  const body = init?.body;
  if (typeof body === 'string') return inOnePiece(body);
  if (body === undefined || body === null) {
    const readable = isRequest(input) && input.body !== null && !input.bodyUsed;
    return readable ? input.clone().text() : undefined;
  }
  if (body instanceof Blob && !(body.type && !/json/i.test(body.type))) return body.text();
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return decodeUtf8(body);
  return undefined;
}

/**
 * V8 keeps the result of `JSON.stringify` in pieces and joins them when a character is read. Reading
 * one now lets the pieces be collected; later they would live beside the joined text.
 */
function inOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(text.length - 1)) ? '' : text;
}

/** `undefined`: not valid UTF-8. */
export function decodeUtf8(body: ArrayBuffer | NodeJS.ArrayBufferView): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
