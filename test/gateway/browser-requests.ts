/** A request as Chromium 150 has sent it for a page, with the headers that say so. */
export interface BrowserRequest {
  readonly what: string;
  readonly line: string;
  readonly headers: readonly string[];
  readonly outcome: string;
}

const chat = 'POST /openai/v1/chat/completions';
const here = 'Host: 127.0.0.1:8787';
const evil = 'Origin: http://evil.example:3000';
const text = 'Content-Type: text/plain';
const crossSite = 'Sec-Fetch-Site: cross-site';
const ofEvil = 'Referer: http://evil.example:3000/';
const foreign = '403 `batchling_foreign_page`';
const wrongHost = '421 `batchling_wrong_host`';

function fetchMetadata(site: string, mode: string, destination: string): string[] {
  return [`Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`, `Sec-Fetch-Dest: ${destination}`];
}

/** To a gateway without a token. */
export const browserRequests: readonly BrowserRequest[] = [
  {
    what: '`fetch` with `mode: "no-cors"`, `text/plain`',
    line: chat,
    headers: [here, text, evil, ...fetchMetadata('cross-site', 'no-cors', 'empty'), ofEvil],
    outcome: foreign,
  },
  {
    what: '`fetch`, `text/plain`: no preflight',
    line: chat,
    headers: [here, text, evil, ...fetchMetadata('cross-site', 'cors', 'empty'), ofEvil],
    outcome: foreign,
  },
  {
    what: '`fetch`, JSON: its preflight',
    line: 'OPTIONS /openai/v1/chat/completions',
    headers: [
      ...[here, 'Access-Control-Request-Method: POST'],
      ...['Access-Control-Request-Headers: content-type', evil],
      ...[...fetchMetadata('cross-site', 'cors', 'empty'), ofEvil],
    ],
    outcome: foreign,
  },
  {
    what: '`navigator.sendBeacon`',
    line: chat,
    headers: [
      ...[here, 'Content-Type: text/plain;charset=UTF-8', evil],
      ...[...fetchMetadata('cross-site', 'no-cors', 'empty'), 'Sec-Fetch-Storage-Access: none'],
      ofEvil,
    ],
    outcome: foreign,
  },
  {
    what: 'a form, `text/plain`',
    line: chat,
    headers: [
      ...[here, text, evil, crossSite, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-User: ?1'],
      ...['Sec-Fetch-Dest: document', ofEvil],
    ],
    outcome: foreign,
  },
  {
    what: 'a form of a sandboxed frame',
    line: chat,
    headers: [
      ...[here, text, 'Origin: null', ...fetchMetadata('cross-site', 'navigate', 'iframe')],
      'Sec-Fetch-Storage-Access: none',
    ],
    outcome: foreign,
  },
  {
    what: 'an image',
    line: 'GET /openai/v1/models',
    headers: [
      ...[here, ...fetchMetadata('cross-site', 'no-cors', 'image')],
      ...['Sec-Fetch-Storage-Access: none', ofEvil],
    ],
    outcome: foreign,
  },
  {
    what: 'a script from `/metrics`',
    line: 'GET /metrics',
    headers: [
      ...[here, ...fetchMetadata('cross-site', 'no-cors', 'script')],
      ...['Sec-Fetch-Storage-Access: none', ofEvil],
    ],
    outcome: foreign,
  },
  {
    what: 'a link to `/metrics`',
    line: 'GET /metrics',
    headers: [
      ...[here, crossSite, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-User: ?1'],
      ...['Sec-Fetch-Dest: document', ofEvil],
    ],
    outcome: foreign,
  },
  {
    what: 'a WebSocket',
    line: 'GET /openai/v1/realtime',
    headers: [
      ...[here, 'Connection: Upgrade', 'Upgrade: websocket', evil],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
    ],
    outcome: foreign,
  },
  {
    what: '`fetch` of `/healthz`',
    line: 'GET /healthz',
    headers: [here, evil, ...fetchMetadata('cross-site', 'cors', 'empty'), ofEvil],
    outcome: foreign,
  },
  {
    what: 'an image, by a page of another port of `localhost`',
    line: 'GET /openai/v1/models',
    headers: [
      'Host: localhost:8787',
      ...fetchMetadata('same-site', 'no-cors', 'image'),
      'Referer: http://localhost:3000/',
    ],
    outcome: foreign,
  },
  {
    what: '`fetch`, by a page of another port of `localhost`',
    line: chat,
    headers: [
      ...['Host: localhost:8787', text, 'Origin: http://localhost:3000'],
      ...fetchMetadata('same-site', 'no-cors', 'empty'),
      'Referer: http://localhost:3000/',
    ],
    outcome: foreign,
  },
  {
    what: 'DNS rebinding: `/metrics`',
    line: 'GET /metrics',
    headers: ['Host: rebind.example:8787', 'Referer: http://rebind.example:8787/metrics'],
    outcome: wrongHost,
  },
  {
    what: 'DNS rebinding: `/healthz`',
    line: 'GET /healthz',
    headers: ['Host: rebind.example:8787'],
    outcome: wrongHost,
  },
  {
    what: 'DNS rebinding: a call',
    line: chat,
    headers: [
      ...['Host: rebind.example:8787', 'Content-Type: application/json'],
      ...['Origin: http://rebind.example:8787', 'Referer: http://rebind.example:8787/'],
    ],
    outcome: wrongHost,
  },
  {
    what: '`fetch` of `http://0.0.0.0:8787/…`',
    line: chat,
    headers: ['Host: 0.0.0.0:8787', text, evil, ofEvil],
    outcome: wrongHost,
  },
  {
    what: '`/metrics` in the address bar',
    line: 'GET /metrics',
    headers: [
      ...[here, 'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-User: ?1'],
      'Sec-Fetch-Dest: document',
    ],
    outcome: '200',
  },
  {
    what: '`fetch` by a page of the gateway itself',
    line: 'POST /healthz',
    headers: [
      ...[here, 'Origin: http://127.0.0.1:8787', ...fetchMetadata('same-origin', 'cors', 'empty')],
      'Referer: http://127.0.0.1:8787/metrics',
    ],
    outcome: '200',
  },
];
