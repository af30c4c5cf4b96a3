import { afterEach, describe, expect, it } from 'vitest';
import { type BatchlingError, NotSentError, UnknownOutcomeError } from '../base/errors.ts';
import { cleanUp, clock, failureOf, key, leadingTo, serve, wireTo } from './client.test-helper.ts';
import type { Credentials, OutgoingRequest } from './wire.ts';

afterEach(cleanUp);

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
