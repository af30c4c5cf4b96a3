import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, it, vi } from 'vitest';
import { createHttpClient } from './client.ts';

/** Counts how often the decoders are loaded; they are the real ones. */
const loaded = vi.hoisted(() => ({ times: 0 }));
vi.mock('./decode.ts', (original) => {
  loaded.times += 1;
  return original();
});

it('a body that comes plain costs nothing: decoders are loaded with the first encoded one', async () => {
  const text = '{"a":1}\n'.repeat(10_000);
  const server = createServer(({ url }, response) => {
    if (url !== '/encoded') response.end(text);
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createHttpClient({ clock: { now: Date.now, setTimeout, clearTimeout } });
  const wire = client.wire({ base, origins: [base], credentials: () => ({}) });
  try {
    expect(await (await wire.send({ method: 'GET', path: '/plain' })).text()).toBe(text);
    expect(loaded.times).toBe(0);
    expect(await (await wire.send({ method: 'GET', path: '/encoded' })).text()).toBe(text);
    expect(loaded.times).toBe(1);
  } finally {
    await client.close();
    server.close();
  }
});
