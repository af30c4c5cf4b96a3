import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, interceptors } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { BatchlingError, NotSentError } from '../base/errors.ts';
import {
  cleanUp,
  cleanups,
  clock,
  failureOf,
  leadingTo,
  serve,
  wireTo,
} from './client.test-helper.ts';
import { createHttpClient } from './client.ts';

afterEach(cleanUp);

describe('a request that makes no progress', () => {
  it('is given up after 30 s unless somebody says otherwise', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => void server.close().closeAllConnections());
    const { port } = server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}`;
    const client = createHttpClient({ clock });
    cleanups.push(() => client.close());
    const wire = client.wire({ base, credentials: () => ({}), origins: [base] });
    // Half a minute passes when it is told to; every other timer takes its time.
    const plain = globalThis.setTimeout;
    cleanups.push(() => {
      globalThis.setTimeout = plain;
    });
    const halfMinutes: (() => void)[] = [];
    globalThis.setTimeout = ((callback: () => void, delay: number) => {
      if (delay === 30_000) halfMinutes.push(callback);
      return plain(callback, delay);
    }) as typeof setTimeout;
    const arrived = new Promise<void>((resolve) => server.once('request', () => resolve()));
    const sent = wire.send({ method: 'GET', path: '/v1/batches' });
    sent.catch(() => undefined);
    await arrived;
    expect(halfMinutes.length).toBeGreaterThan(0);
    for (const passed of halfMinutes) passed();
    await expect(sent).rejects.toThrow('no progress for 30000 ms');
  });
});

describe('where a request goes', () => {
  it.each([
    ['', '/batches?limit=2', '/batches?limit=2'],
    ['/', '/batches', '/batches'],
    ['/openai/v1', '/batches', '/openai/v1/batches'],
    ['/openai/v1/', '/batches', '/openai/v1/batches'],
    ['/v1', '//elsewhere.example/x', '/v1//elsewhere.example/x'],
    ['/openai?v=1', '/batches', '/openai/batches?v=1'],
    ['/openai/?v=1&w=2', '/batches?limit=2', '/openai/batches?limit=2&v=1&w=2'],
  ])('joins base path "%s" and "%s"', async (path, requested, expected) => {
    const { origin, seen } = await serve();
    await (await wireTo(origin + path).send({ method: 'GET', path: requested })).discard();
    expect(seen[0]?.url).toBe(expected);
  });

  it('sends bodies of every kind with their length, and none with a GET', async () => {
    const { origin, seen } = await serve();
    const wire = wireTo(origin);
    const bytes = Buffer.from('bytes');
    for (const body of ['tëxt', new Uint8Array(bytes), { length: 5, chunks: () => [bytes] }, '']) {
      await (await wire.send({ method: 'PUT', path: '/', body })).discard();
    }
    await (await wire.send({ method: 'POST', path: '/' })).discard();
    await (await wire.send({ method: 'GET', path: '/' })).discard();
    await (await wire.send({ method: 'DELETE', path: '/' })).discard();
    expect(seen.map(({ body }) => body)).toEqual(['tëxt', 'bytes', 'bytes', '', '', '', '']);
    expect(seen.map(({ headers }) => headers['content-length'])).toEqual([
      ...['5', '5', '5', '0', '0'],
      ...[undefined, undefined],
    ]);
    expect(seen.some(({ headers }) => 'transfer-encoding' in headers)).toBe(false);
  });

  it('follows no redirect, even where the given dispatcher would', async () => {
    const { origin, seen } = await serve({ status: 307, headers: { location: '/elsewhere' } });
    const following = new Agent().compose(interceptors.redirect({ maxRedirections: 5 }));
    cleanups.push(() => following.destroy());
    for (const dispatcher of [undefined, following]) {
      const reply = await wireTo(origin, {}, { dispatcher }).send({ method: 'GET', path: '/' });
      expect(reply.status).toBe(307);
      expect(reply.headers.location).toBe('/elsewhere');
      await reply.discard();
    }
    expect(seen).toHaveLength(2);
  });

  it('knows its base and its clock', () => {
    const wire = wireTo('http://127.0.0.1:1/v1/');
    expect([wire.base, wire.clock.now()]).toEqual(['http://127.0.0.1:1/v1/', 42]);
  });
});

describe('the client', () => {
  it('closes once, with or without a request before', async () => {
    const { origin } = await serve();
    for (const sends of [false, true]) {
      const client = createHttpClient({ clock });
      const wire = client.wire({ base: origin, origins: [origin], credentials: () => ({}) });
      if (sends) await (await wire.send({ method: 'GET', path: '/' })).discard();
      const closed = client.close();
      expect(client.close()).toBe(closed);
      await closed;
      const error = await failureOf(wire.send({ method: 'GET', path: '/' }));
      expect(error).toBeInstanceOf(NotSentError);
    }
  });

  it('does not close a dispatcher that it was given', async () => {
    const { origin, port } = await serve();
    const dispatcher = leadingTo(port);
    await createHttpClient({ clock, dispatcher }).close();
    const reply = await wireTo(origin, {}, { dispatcher }).send({ method: 'GET', path: '/' });
    expect(reply.status).toBe(200);
    await reply.discard();
  });

  it('refuses a dispatcher that is none', () => {
    expect(() => createHttpClient({ clock, dispatcher: 'http://proxy' })).toThrow(BatchlingError);
  });
});
