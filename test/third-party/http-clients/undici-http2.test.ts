import http2 from 'node:http2';
import { Agent, request } from 'undici';
import { expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { certificate, certificateKey } from '../../fidelity/certificate.ts';
import { bypassesOf } from '../../support/escaping.ts';

it('undici over HTTP/2 is told of as over HTTP/1.1, and its calls are answered by their server', async () => {
  const server = http2.createSecureServer({ cert: certificate, key: certificateKey });
  let sessions = 0;
  server.on('session', () => {
    sessions += 1;
  });
  server.on('request', (asked, reply) => asked.resume().on('end', () => reply.end('its server')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const base = `https://127.0.0.1:${port}/v1`;
  const dispatcher = new Agent({ allowH2: true, connect: { ca: certificate } });
  const hosts = { [base]: 'openai' } as const;
  const scope = batchify({ store: ':memory:', hosts, bypass: 'warn', display: 'none' });
  const bypasses = bypassesOf(scope);
  const url = `${base}/chat/completions`;
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-test' };
  const text = await scope.run(async () => {
    const reply = await request(url, { method: 'POST', headers, body, dispatcher });
    return reply.body.text();
  });
  await scope.close();
  await dispatcher.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(text).toBe('its server');
  expect(sessions).toBe(1);
  expect(bypasses).toEqual([{ url, reason: expect.stringContaining('transport'), sent: true }]);
  expect(scope.stats).toMatchObject({ captured: 0, bypassed: 1 });
});
