import { createHash } from 'node:crypto';
import http, { type ClientRequest } from 'node:http';
import type https from 'node:https';
import { Agent, request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../../src/index.ts';
import { certificate } from '../../fidelity/certificate.ts';
import { answer, ok, type Peer, startPeer } from '../../fidelity/peer.ts';
import { bypassesOf } from '../../support/escaping.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { soon } from '../../support/until.ts';

const body = '{"model":"m","messages":[],"secret":true}';
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const post = { method: 'POST', headers, agent: false as const };
const reason = 'its client checks the certificate of the server itself';

let peer: Peer;
let scope: BatchingContext;
let bypasses: ReturnType<typeof bypassesOf>;

beforeEach(async () => {
  peer = await startPeer(answer(body, ok('{"real":1}')), true);
});
afterEach(async () => {
  await scope.close();
  await peer.close();
});

/** A scope that batches what goes to the peer. */
function open(given: BatchifyOptions = {}): string {
  const base = `https://localhost:${peer.port}/v1`;
  const hosts = { [base]: 'openai' } as const;
  scope = batchify({
    hosts,
    store: ':memory:',
    window: '1h',
    maxWindow: '1h',
    bypass: 'ignore',
    ...given,
  });
  bypasses = bypassesOf(scope);
  return `${base}/chat/completions`;
}

type Client = (url: string) => ClientRequest;

const untrusted = { ...post, rejectUnauthorized: false };
const trusted = { ...post, ca: certificate };
const fingerprint = createHash('sha256')
  .update(Buffer.from(certificate.replace(/-----.*-----|\n/g, ''), 'base64'))
  .digest('hex');

/** Looks at the certificate before its request may leave. */
function pinned(
  url: string,
  pin: string,
  options: https.RequestOptions = untrusted,
): ClientRequest {
  const sending = request(url, options);
  sending.once('socket', (socket) => {
    socket.once('secureConnect', () => {
      const seen = (socket as TLSSocket).getPeerCertificate().fingerprint256?.replaceAll(':', '');
      if (seen?.toLowerCase() !== pin) sending.destroy(new Error('wrong pin'));
    });
  });
  return sending.end(body);
}

/** Writes nothing before its server is proved. */
const careful: Client = (url) => {
  const sending = request(url, trusted);
  sending.once('socket', (socket: TLSSocket) => {
    socket.once('secureConnect', () => {
      if (socket.authorized) sending.end(body);
      else sending.destroy(new Error('not authorized'));
    });
  });
  return sending;
};

/** Asks the socket again and again, instead of listening. */
const asking: Client = (url) => {
  const sending = request(url, trusted);
  sending.once('socket', (socket: TLSSocket) => {
    const look = () => (socket.authorized ? sending.end(body) : setImmediate(look));
    look();
  });
  return sending;
};

/** Begins to look once it is connected. */
const late: Client = (url) => {
  const sending = request(url, trusted);
  sending.once('socket', (socket: TLSSocket) => {
    socket.once('connect', () => {
      socket.once('secureConnect', () => {
        if (socket.authorized) sending.end(body);
        else sending.destroy(new Error('not authorized'));
      });
    });
  });
  return sending;
};

/** Looks one turn after it has its socket, and waits for the handshake if that is still to come. */
const waiting: Client = (url) => {
  const sending = request(url, trusted);
  sending.once('socket', (socket: TLSSocket) => {
    setImmediate(() => {
      if (socket.authorized) sending.end(body);
      else socket.once('secureConnect', () => sending.end(body));
    });
  });
  return sending;
};

const clients: [string, Client][] = [
  ['pins a certificate once it is connected', (url) => pinned(url, fingerprint)],
  ['writes nothing before', careful],
  ['asks its socket', asking],
  ['begins to look once it is connected', late],
  ['looks one turn later, and waits', waiting],
  [
    'gives Node a check of its own',
    (url) => request(url, { ...trusted, checkServerIdentity: () => undefined }).end(body),
  ],
  [
    'gives its agent a check of its own',
    (url) => {
      const agent = new Agent({ ca: certificate, checkServerIdentity: () => undefined });
      return request(url, { ...post, agent }).end(body);
    },
  ],
];

describe.each(clients)('a client that %s', (_what, client) => {
  it('is not batched: it talks to its server, and that is reported', async () => {
    const url = open();
    const reply = await soon(received(scope.run(() => client(url))));
    expect([reply.body, bypasses.map((one) => one.url)]).toEqual(['{"real":1}', [url]]);
    expect(bypasses[0]?.reason).toContain(reason);
    expect(scope.stats.captured).toBe(0);
    expect(peer.bytes.join('')).toContain(body);
  });

  it('is told so where bypasses are errors, and nothing is sent', async () => {
    const url = open({ bypass: 'error' });
    const reply = await soon(received(scope.run(() => client(url))));
    expect(reply.status).toBe(400);
    expect(reply.body).toContain(reason);
    expect(peer.bytes.join('')).toBe('');
  });
});

describe('a client that checks its server', () => {
  it('keeps its body when it does not trust the server', async () => {
    const url = open();
    const failed = received(scope.run(() => pinned(url, 'another')));
    await expect(soon(failed)).rejects.toThrow('wrong pin');
    expect([peer.bytes.join(''), scope.stats.captured]).toEqual(['', 0]);
  });

  it('may find the connection kept alive', async () => {
    const url = open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    for (const _turn of [1, 2]) {
      const sending = scope.run(() => pinned(url, fingerprint, { ...post, agent }));
      expect((await soon(received(sending))).body).toBe('{"real":1}');
      await expect.poll(() => Object.keys(agent.freeSockets).length).toBe(1);
    }
    expect(peer.bytes).toHaveLength(1);
    agent.destroy();
  });

  it('is no concern where it has opted out', async () => {
    const url = open({ bypass: 'error' });
    const off = { ...untrusted, headers: { ...headers, 'x-batchling': 'off' } };
    const late = () => {
      const sending = request(url, untrusted);
      sending.setHeader('x-batchling', 'off');
      sending.once('socket', (socket) => socket.once('secureConnect', () => sending.end(body)));
      return sending;
    };
    for (const send of [() => pinned(url, fingerprint, off), late]) {
      expect((await soon(received(scope.run(send)))).status).toBe(200);
    }
    expect(peer.bytes.join('')).not.toContain('x-batchling');
    expect(bypasses).toEqual([]);
  });
});

describe('a client on plain HTTP', () => {
  it('has no certificate to check, whatever it listens to', async () => {
    open({ hosts: { 'http://localhost:9/v1': 'openai' } });
    const sending = scope.run(() => http.request('http://localhost:9/v1/chat/completions', post));
    sending.once('socket', (socket) => socket.once('secureConnect', () => undefined));
    sending.on('error', () => undefined).end(body);
    await expect.poll(() => scope.stats.captured).toBe(1);
    sending.destroy();
  });
});
