import { createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { tracing } from '../../base/call-tracing.ts';
import { GoogleKeys } from './google-keys.ts';

afterEach(() => {
  tracing.tracer = undefined;
});

it('fetches the keys without a trace of the program', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }];
  const service = createServer((_, response) => response.end(JSON.stringify({ keys })));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  let untraced = 0;
  tracing.tracer = {
    captured: () => undefined,
    answered: () => undefined,
    traceparentOf: () => undefined,
    untraced: (work) => {
      untraced += 1;
      return work();
    },
  };
  const parts = [{ alg: 'RS256', kid: 'one' }, { type: 'batch.succeeded' }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createSign('RSA-SHA256').update(parts.join('.')).sign(privateKey, 'base64url');
  const google = new GoogleKeys(`http://127.0.0.1:${port}/keys`, Date.now);
  expect(await google.claimsOf([...parts, signature].join('.'))).toEqual({
    type: 'batch.succeeded',
  });
  expect(untraced).toBe(1);
  service.close();
});
