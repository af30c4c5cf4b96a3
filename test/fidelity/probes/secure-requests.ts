import { request } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { answer, ok, startPeer } from '../peer.ts';
import { eventOf, orSilence, type Probe } from './probe.ts';

const options = {
  method: 'POST',
  path: '/channels/1/messages',
  host: '127.0.0.1',
  headers: { 'content-type': 'application/json', 'content-length': 6 },
  agent: false as const,
  rejectUnauthorized: false,
};

/** A client that trusts nobody until it has looked at the certificate itself. */
async function sendIf(isTrusted: (socket: TLSSocket) => boolean): Promise<unknown> {
  const peer = await startPeer(answer('secret', ok('{}')), true);
  const sending = request({ ...options, port: peer.port });
  const failed = eventOf<Error>(sending, 'error').then(({ message }) => message);
  const answered = eventOf<{ statusCode: number }>(sending, 'response').then(
    ({ statusCode }) => statusCode,
  );
  sending.once('socket', (socket) => {
    socket.once('secureConnect', () => {
      if (!isTrusted(socket as TLSSocket)) sending.destroy(new Error('not to be trusted'));
    });
  });
  sending.end('secret');
  const outcome = await orSilence(Promise.race([failed, answered]));
  await peer.close();
  return [outcome, peer.bytes.join('').includes('secret') ? 'body sent' : 'body kept'];
}

export const secureRequests: Probe[] = [
  {
    name: 'a client that checks the certificate itself, and is content',
    run: () => sendIf((socket) => socket.getPeerCertificate().subject?.CN === 'localhost'),
  },
  {
    name: 'a client that checks the certificate itself, and is not content',
    run: () => sendIf(({ authorized }) => authorized),
  },
];
