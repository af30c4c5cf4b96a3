import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Agent, interceptors } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { BatchlingError, NotSentError, UnknownOutcomeError } from '../base/errors.ts';
import { createHttpClient, type HttpClientOptions, type WireOptions } from './client.ts';
import type { Credentials, OutgoingRequest, Wire } from './wire.ts';

const clock = { now: () => 42, setTimeout, clearTimeout: () => {} };
const key = 'sk-very-secret-key';
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

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

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers with `reply`, and keeps what it saw. */
async function serve(
  reply: { status?: number; headers?: Record<string, string>; body?: string } = {},
) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, seen };
}

function wireTo(
  base: string,
  wireOptions: Partial<WireOptions> = {},
  options: Partial<HttpClientOptions> = {},
): Wire {
  const client = createHttpClient({ clock, ...options });
  cleanups.push(() => client.close());
  return client.wire({
    base,
    origins: [new URL(base).origin],
    credentials: () => ({ headers: { Authorization: `Bearer ${key}` } }),
    ...wireOptions,
  });
}

/** Leads every origin, https too, to one loopback port: a signed URL needs no certificate then. */
function leadingTo(port: number): Agent {
  const agent = new Agent({
    connect: (_options, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket));
      socket.on('error', (error) => callback(error, null));
    },
  });
  cleanups.push(() => agent.destroy());
  return agent;
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

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

describe('credentials', () => {
  it('are asked for at every request and go to declared origins, with the shared headers', async () => {
    const { origin, seen } = await serve();
    let turn = 0;
    const wire = wireTo(origin, {
      credentials: () => {
        turn += 1;
        return { headers: { Authorization: `Bearer ${turn}` } };
      },
      headers: { 'X-Version': '1', 'x-kind': 'shared' },
    });
    const headers = { authorization: 'mine', 'X-Kind': 'own' };
    await (await wire.send({ method: 'GET', path: '/', headers })).discard();
    await (await wire.send({ method: 'GET', path: `${origin}/absolute` })).discard();
    expect(seen.map((request) => request.headers)).toMatchObject([
      { authorization: 'Bearer 1', 'x-version': '1', 'x-kind': 'own' },
      { authorization: 'Bearer 2', 'x-version': '1', 'x-kind': 'shared' },
    ]);
  });

  it('of the query go to declared origins, beside what the request asks for', async () => {
    const { origin, seen } = await serve();
    const wire = wireTo(origin, { credentials: () => ({ query: { key: 'a secret & more' } }) });
    await (await wire.send({ method: 'GET', path: '/list?limit=2' })).discard();
    await (await wire.send({ method: 'GET', path: '/list' })).discard();
    expect(seen.map(({ url }) => url)).toEqual([
      '/list?limit=2&key=a+secret+%26+more',
      '/list?key=a+secret+%26+more',
    ]);
  });

  it('of the query do not go to another origin, and are in no message', async () => {
    const { port, seen } = await serve({ status: 500, body: `no: ${key}` });
    const dispatcher = leadingTo(port);
    const wire = wireTo(
      'https://api.example/v1',
      { credentials: () => ({ query: { key } }) },
      { dispatcher },
    );
    await (await wire.send({ method: 'GET', path: 'https://storage.example/file?a=1' })).discard();
    expect(seen[0]?.url).toBe('/file?a=1');
    const reply = await wire.send({ method: 'GET', path: '/batches' });
    const error = await failureOf(reply.json());
    expect(String(error)).toContain('https://api.example/v1/batches answered 500');
    expect(String(error)).toContain('[redacted]');
    expect(String(error)).not.toContain(key);
    expect(wire.redact(`echo ${key}`)).toBe('echo [redacted]');
  });

  it('can be replaced for every request, and the older ones are still kept out of messages', async () => {
    const { origin, seen } = await serve();
    let turn = 0;
    const wire = wireTo(origin, {
      refresh: async ({ headers }) => {
        turn += 1;
        expect(headers).toEqual({ Authorization: `Bearer ${key}` });
        return { headers: { authorization: `Bearer token-${turn}` } };
      },
    });
    await (await wire.send({ method: 'GET', path: '/' })).discard();
    await (await wire.send({ method: 'GET', path: '/' })).discard();
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(wire.redact(`token-1 token-2 ${key}`)).toBe('[redacted] [redacted] [redacted]');
  });

  it('are made with the wall time, which a clock that was set back may be ahead of', async () => {
    const { origin } = await serve();
    const times: number[] = [];
    const refresh = (credentials: Credentials, { now }: OutgoingRequest) => {
      times.push(now);
      return credentials;
    };
    for (const given of [clock, { ...clock, wall: () => 7 }]) {
      const wire = wireTo(origin, { refresh }, { clock: given });
      await (await wire.send({ method: 'GET', path: '/' })).discard();
    }
    expect(times).toEqual([42, 7]);
  });

  it('that cannot be had send nothing', async () => {
    const { origin, seen } = await serve();
    const refresh = () => Promise.reject(new Error(`no token for ${key}`));
    const error = await failureOf(wireTo(origin, { refresh }).send({ method: 'GET', path: '/' }));
    expect(error).toBeInstanceOf(NotSentError);
    expect((error as Error).message).not.toContain(key);
    expect(seen).toEqual([]);
  });

  it('do not go along to a signed URL, nor does anything like them', async () => {
    const { port, seen } = await serve();
    const wire = wireTo(
      'https://api.example/v1',
      {
        credentials: () => ({
          headers: { authorization: `Bearer ${key}`, 'x-tenant': 'tenant-1' },
        }),
        headers: { 'x-shared': '1' },
      },
      { dispatcher: leadingTo(port) },
    );
    const url = 'https://storage.example/file?X-Amz-Signature=abcdef0123456789';
    const headers = {
      Authorization: 'Bearer other',
      'X-Api-Key': 'other',
      'x-goog-api-key': 'other',
      cookie: 'session=1',
      'x-tenant': 'tenant-1',
      'x-smuggled': `key ${key}`,
      'x-ms-blob-type': 'BlockBlob',
    };
    await (await wire.send({ method: 'PUT', path: url, headers, body: 'x' })).discard();
    await (await wire.send({ method: 'GET', path: '/files' })).discard();
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual([
      ...['connection', 'content-length', 'host', 'x-ms-blob-type'],
    ]);
    expect(seen[0]).toMatchObject({ url: url.slice('https://storage.example'.length), body: 'x' });
    expect(seen[1]?.headers).toMatchObject({ authorization: `Bearer ${key}`, 'x-shared': '1' });
  });

  it('do not go along to a signed URL at an origin that may see them either', async () => {
    const { origin, seen } = await serve();
    const wire = wireTo(origin, { headers: { 'x-shared': '1' } });
    const path = `${origin}/file?signature=abcdef0123456789`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' };
    const request = { method: 'PUT', path, headers, body: 'x', signed: true } as const;
    await (await wire.send(request)).discard();
    expect(Object.keys(seen[0]?.headers ?? {}).sort()).toEqual([
      ...['connection', 'content-length', 'content-type', 'host'],
    ]);
    expect(seen[0]).toMatchObject({ url: '/file?signature=abcdef0123456789', body: 'x' });
  });

  it.each(['http://127.0.0.1:1/file?signature=abcdef0123456789', 'ftp://storage.example/file'])(
    'and a signed URL: it is never less safe than the base: %s',
    async (path) => {
      const request = { method: 'PUT', path, body: 'x', signed: true } as const;
      const error = await failureOf(wireTo('https://api.example/v1').send(request));
      expect(error).toMatchObject({ code: 'FOREIGN_ORIGIN' });
      expect((error as Error).message).not.toMatch(/signature|file/);
    },
  );

  it('and a signed URL: no error shows more of it than its host', async () => {
    const echo = await serve({ body: '<p>/place-of-the-file abcdef0123456789' });
    const signed = (origin: string) =>
      ({
        method: 'PUT',
        path: `${origin}/place-of-the-file?signature=abcdef0123456789`,
        body: 'x',
        signed: true,
      }) as const;
    const wire = wireTo(echo.origin);
    const errors = [
      await failureOf(wire.send(signed('http://127.0.0.1:1'))),
      await failureOf((await wire.send(signed(echo.origin))).json()),
      await failureOf(wire.send({ ...signed(''), method: 'PUT' })),
    ];
    expect(errors.map((error) => (error as BatchlingError).code)).toEqual([
      ...['NOT_SENT', 'UNKNOWN_OUTCOME', 'INVARIANT'],
    ]);
    for (const error of errors) {
      const { stack, facts } = error as BatchlingError;
      const shown = `${stack} ${JSON.stringify(facts)} ${(error as Error).cause}`;
      expect(shown).not.toMatch(/place-of-the-file|abcdef0123456789/);
    }
  });

  it.each([
    ['plain http to another origin', 'http://127.0.0.2:1/file?signature=abcdef0123456789'],
    ['another port', 'http://127.0.0.1:2/file?signature=abcdef0123456789'],
    ['another scheme', 'ftp://127.0.0.1/file?signature=abcdef0123456789'],
  ])('are never at risk: %s is refused', async (_what, path) => {
    const error = await failureOf(wireTo('http://127.0.0.1:1').send({ method: 'GET', path }));
    expect(error).toMatchObject({ code: 'FOREIGN_ORIGIN' });
    expect((error as Error).message).not.toContain('signature');
  });

  it('are never at risk: a path under an undeclared base is refused', async () => {
    const wire = wireTo('https://api.example', { origins: ['https://other.example'] });
    const error = await failureOf(wire.send({ method: 'GET', path: '/x' }));
    expect(error).toMatchObject({ code: 'FOREIGN_ORIGIN' });
  });

  it('are in no error: not in its message, its facts or its text', async () => {
    const echo = await serve({ body: `<p>Bearer ${key} abcdef0123456789` });
    const path = '/file?signature=abcdef0123456789';
    const errors = [
      await failureOf(wireTo('http://127.0.0.1:1').send({ method: 'GET', path })),
      await failureOf((await wireTo(echo.origin).send({ method: 'GET', path })).json()),
      await failureOf(wireTo(echo.origin).send({ method: 'GET', path: `no-slash${path}` })),
    ];
    expect(errors.map((error) => (error as BatchlingError).code)).toEqual([
      ...['NOT_SENT', 'UNKNOWN_OUTCOME', 'INVARIANT'],
    ]);
    for (const error of errors) {
      const { stack, facts } = error as BatchlingError;
      const shown = `${stack} ${JSON.stringify(facts)} ${(error as Error).cause}`;
      expect(shown).not.toMatch(/very-secret|abcdef0123456789/);
    }
    expect(errors[1]).toBeInstanceOf(UnknownOutcomeError);
  });

  it('that cannot be had mean that nothing was sent', async () => {
    const cause = new Error('token service down');
    const credentials = () => {
      throw cause;
    };
    const wire = wireTo('http://127.0.0.1:1', { credentials });
    const error = await failureOf(wire.send({ method: 'GET', path: '/' }));
    expect(error).toBeInstanceOf(NotSentError);
    expect(error).toMatchObject({ cause });
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
