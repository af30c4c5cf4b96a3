import { chatBody } from './start-gateway.ts';

/** Bytes of a client that means no good, or is broken. */
export interface BadInput {
  readonly what: string;
  readonly pieces: readonly string[];
  /** Milliseconds between the pieces. */
  readonly pause?: number;
  readonly outcome: string;
}

const body = chatBody('bad input');
const path = '/openai/v1/chat/completions';
const token = 'x-batchling-token: a-token';
const usual = [
  'host: here',
  token,
  'authorization: Bearer sk-client',
  'content-type: application/json',
];

function request(target: string, headers: readonly string[] = usual, content = body): string {
  const length = `content-length: ${Buffer.byteLength(content)}`;
  return [`POST ${target} HTTP/1.1`, ...headers, length, '', content].join('\r\n');
}

const without = (name: string) => usual.filter((header) => !header.startsWith(name));
const badPath = '400 `batchling_bad_path`';
const badRequest = '400 `batchling_bad_request`';

/** Limits of the gateway in this test: bodies of 2,000 bytes, half a second for a request. */
export const badInputs: readonly BadInput[] = [
  { what: 'bytes that are not HTTP', pieces: ['hello gateway\r\n\r\n'], outcome: badRequest },
  { what: 'TLS', pieces: ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'], outcome: badRequest },
  { what: 'no `host` header', pieces: [request(path, without('host'))], outcome: '400' },
  {
    what: 'another `host` header, where there is a token',
    pieces: [request(path, ['host: evil.example', ...without('host')])],
    outcome: '200',
  },
  {
    what: '`content-length` together with `transfer-encoding`',
    pieces: [request(path, [...usual, 'transfer-encoding: chunked'])],
    outcome: badRequest,
  },
  {
    what: 'a NUL in a header',
    pieces: [request(path, [...usual, 'x-a: \0'])],
    outcome: badRequest,
  },
  {
    what: 'headers of 40 KB',
    pieces: [request(path, [...usual, `x-a: ${'a'.repeat(40_000)}`])],
    outcome: '431 `batchling_headers_too_large`',
  },
  {
    what: 'a body that is too large',
    pieces: [request(path, usual, chatBody('a'.repeat(3_000)))],
    outcome: '413 `batchling_body_too_large`',
  },
  {
    what: 'a body that is too large, in chunks',
    pieces: [
      [`POST ${path} HTTP/1.1`, ...usual, 'transfer-encoding: chunked', '', ''].join('\r\n'),
      ...Array.from({ length: 30 }, () => `64\r\n${'a'.repeat(100)}\r\n`),
    ],
    outcome: '413 `batchling_body_too_large`',
  },
  {
    what: 'headers that come too slowly',
    pieces: [`POST ${path} HTTP/1.1\r\n`, ...Array.from({ length: 20 }, (_, n) => `x-${n}: 1\r\n`)],
    pause: 100,
    outcome: '408 `batchling_too_slow`',
  },
  {
    what: 'a body that comes too slowly',
    pieces: [
      [`POST ${path} HTTP/1.1`, ...usual, 'content-length: 1000', '', ''].join('\r\n'),
      ...Array.from({ length: 20 }, () => 'a'),
    ],
    pause: 100,
    outcome: '408 `batchling_too_slow`',
  },
  {
    what: 'no token',
    pieces: [request(path, without('x-b'))],
    outcome: '401 `batchling_wrong_token`',
  },
  {
    what: 'a wrong token',
    pieces: [request(path, [...without('x-b'), 'x-batchling-token: b-token'])],
    outcome: '401 `batchling_wrong_token`',
  },
  { what: 'an absolute target', pieces: [request(`http://evil.example${path}`)], outcome: badPath },
  { what: '`//evil.example/…`', pieces: [request(`//evil.example${path}`)], outcome: badPath },
  {
    what: '`/openai//evil.example/`',
    pieces: [request('/openai//evil.example/v1')],
    outcome: badPath,
  },
  { what: '`/openai/../…`', pieces: [request('/openai/../metrics')], outcome: badPath },
  { what: '`/openai/%2e%2e/…`', pieces: [request('/openai/%2e%2E/metrics')], outcome: badPath },
  { what: '`/openai/v1%2fchat`', pieces: [request('/openai/v1%2fchat')], outcome: badPath },
  { what: '`/openai\\evil.example`', pieces: [request('/openai\\evil.example')], outcome: badPath },
  { what: 'a `#` in the path', pieces: [request(`${path}#a`)], outcome: badPath },
  {
    what: '`/openai@evil.example/…`, `/evil.example/…`: no such provider',
    pieces: [request('/openai@evil.example/v1')],
    outcome: '404 `batchling_not_found`',
  },
  {
    what: 'a path outside of the base that stands for the provider',
    pieces: [request('/openai/__simulator/meter')],
    outcome: '404 `batchling_not_found`',
  },
  {
    what: '`?key=a&key=b`: two credentials',
    pieces: [request('/google/v1beta/models/gemini-2.5-flash:generateContent?key=a&%6bey=b')],
    outcome: badRequest,
  },
  {
    what: '`CONNECT`',
    pieces: ['CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n'],
    outcome: '405 `batchling_wrong_method`',
  },
  {
    what: '`upgrade: websocket`',
    pieces: [request(path, [...usual, 'connection: upgrade', 'upgrade: websocket'])],
    outcome: '501 `batchling_not_supported`',
  },
  {
    what: 'a header `x-batchling-…` that there is not',
    pieces: [request(path, [...usual, 'x-batchling-store: /etc/x.db'])],
    outcome: '400 `batchling_bad_header`',
  },
  {
    what: 'an id of a request that there is not',
    pieces: [request('/requests/e30.AAAAAAAAAAAAAAAAAAAAAA')],
    outcome: '404 `batchling_not_found`',
  },
];
