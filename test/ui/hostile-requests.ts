/** A request that no reader of the page has meant, and what it gets. */
export interface HostileRequest {
  readonly what: string;
  readonly line: string;
  readonly headers: readonly string[];
  readonly outcome: string;
}

const here = 'Host: 127.0.0.1:8788';
const evil = 'Origin: http://evil.example';
const token = 'x-batchling-token: the-token';
const wrongHost = '421 `batchling_wrong_host`';
const foreign = '403 `batchling_foreign_page`';
const noToken = '401 `batchling_wrong_token`';
const now = 'GET api/now';
const cancel = 'POST api/batches/bl_1/cancel';

/** To the page of `batchling ui --write`, and to that of a gateway. With the right token, where a header says so. */
export const hostileRequests: readonly HostileRequest[] = [
  {
    what: 'another name that leads here (DNS rebinding)',
    line: now,
    headers: ['Host: rebind.example:8788', token],
    outcome: wrongHost,
  },
  {
    what: 'the same, for the page itself',
    line: 'GET ',
    headers: ['Host: rebind.example:8788'],
    outcome: wrongHost,
  },
  {
    what: 'the address of another machine as `Host`',
    line: now,
    headers: ['Host: 192.168.1.5:8788', token],
    outcome: wrongHost,
  },
  {
    what: '`0.0.0.0` as `Host`',
    line: now,
    headers: ['Host: 0.0.0.0:8788', token],
    outcome: wrongHost,
  },
  {
    what: 'a name that begins like this machine',
    line: now,
    headers: ['Host: 127.0.0.1.evil.example', token],
    outcome: wrongHost,
  },
  {
    what: '`fetch` by a page of another site, with the token',
    line: now,
    headers: [here, evil, token],
    outcome: foreign,
  },
  {
    what: 'its preflight',
    line: 'OPTIONS api/now',
    headers: [here, evil, 'Access-Control-Request-Headers: x-batchling-token'],
    outcome: foreign,
  },
  {
    what: '`fetch` with `no-cors`',
    line: now,
    headers: [here, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'],
    outcome: foreign,
  },
  {
    what: 'a page of another port of this machine',
    line: now,
    headers: [here, 'Origin: http://127.0.0.1:3000', token],
    outcome: foreign,
  },
  {
    what: 'the same, without an `Origin`',
    line: now,
    headers: [here, 'Sec-Fetch-Site: same-site', token],
    outcome: foreign,
  },
  {
    what: 'a sandboxed frame',
    line: now,
    headers: [here, 'Origin: null', token],
    outcome: foreign,
  },
  {
    what: 'a form that cancels',
    line: cancel,
    headers: [here, evil, 'Content-Type: text/plain', 'Sec-Fetch-Site: cross-site'],
    outcome: foreign,
  },
  {
    what: 'the same in an old browser, which sends no `Origin`',
    line: cancel,
    headers: [here, 'Content-Type: application/x-www-form-urlencoded'],
    outcome: noToken,
  },
  {
    what: 'a form that collects',
    line: 'POST api/collect',
    headers: [here, evil, 'Content-Type: text/plain'],
    outcome: foreign,
  },
  {
    what: 'an image',
    line: 'GET icon.svg',
    headers: [here, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: image'],
    outcome: foreign,
  },
  {
    what: 'a script tag with an answer in it',
    line: 'GET api/requests/1',
    headers: [here, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: script'],
    outcome: foreign,
  },
  {
    what: 'the page in a frame of another site',
    line: 'GET ',
    headers: [here, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: iframe'],
    outcome: foreign,
  },
  {
    what: 'a WebSocket',
    line: now,
    headers: [
      here,
      evil,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ],
    outcome: foreign,
  },
  {
    what: 'another program of this machine, without the token',
    line: now,
    headers: [here],
    outcome: noToken,
  },
  {
    what: 'a wrong token',
    line: now,
    headers: [here, 'x-batchling-token: another'],
    outcome: noToken,
  },
  {
    what: 'the token in the address',
    line: 'GET api/now?token=the-token',
    headers: [here],
    outcome: noToken,
  },
  {
    what: 'the token as a cookie',
    line: now,
    headers: [here, 'Cookie: token=the-token'],
    outcome: noToken,
  },
  {
    what: 'cancelling by `GET`',
    line: 'GET api/batches/bl_1/cancel',
    headers: [here, token],
    outcome: '405 `batchling_wrong_method`',
  },
  {
    what: 'another file than those of the page',
    line: 'GET page.js.map',
    headers: [here],
    outcome: '404 `batchling_not_found`',
  },
  {
    what: 'a path that leads out',
    line: 'GET ../package.json',
    headers: [here],
    outcome: '400 `batchling_bad_path`',
  },
  {
    what: 'the same, escaped',
    line: 'GET %2e%2e/package.json',
    headers: [here],
    outcome: '400 `batchling_bad_path`',
  },
];
