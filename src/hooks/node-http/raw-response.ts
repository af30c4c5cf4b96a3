import type { Dict } from '../../base/types.ts';
import type { RawAnswer } from '../border.ts';

/** Headers that we write ourselves: the body is complete, plain, and the last on its connection. */
const ours = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The bytes of an answer, as a server writes them. */
export function writeResponse({ status, headers, body }: RawAnswer): Buffer {
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const content = Buffer.from(bodiless.has(status) ? '' : body);
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (const [name, value] of writableHeaders(headers)) head += `${name}: ${value}\r\n`;
  head += `content-length: ${content.length}\r\nconnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), content]);
}

/** The headers of an answer that a response can have, in letters that it can have. */
export function writableHeaders(headers: Dict): (readonly [name: string, value: string])[] {
  return Object.entries(headers)
    .filter(([name]) => !ours.has(name.toLowerCase()) && /^[\w!#$%&'*+.^`|~-]+$/.test(name))
    .map(([name, value]) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what no header may hold
      return [name, value.replace(/[\0-\x08\x0a-\x1f\x7f]+/g, ' ')] as const;
    });
}

/** Statuses without a body: `Response` refuses one, and HTTP parsers fail on it. */
export const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);
