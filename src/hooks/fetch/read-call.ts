import type { Dict } from '../../types.ts';

/**
 * The URL of a POST as text, without parsing it; empty for anything else. What cannot be read is left
 * to fetch itself, which refuses it in its own way.
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

/** Lower-case names. What `init` says replaces the headers of a `Request` as a whole. */
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

/** A client sends the same headers again and again: its waiting calls share one object. */
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
 * The body as text, or `undefined` when it is none: a form, a stream, a blob. The body of a
 * `Request` is read from a clone, so that the original can still go out.
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
 * `JSON.stringify` leaves a text in pieces, which are joined when somebody looks at a character. Done at
 * once, the pieces are forgotten at once; later they would have to be kept beside the whole.
 */
function inOnePiece(text: string): string {
  return Number.isNaN(text.charCodeAt(text.length - 1)) ? '' : text;
}

/** `undefined`: not text. */
export function decodeUtf8(body: ArrayBuffer | NodeJS.ArrayBufferView): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
