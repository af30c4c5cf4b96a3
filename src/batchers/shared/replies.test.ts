import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { createHttpClient } from '../../http/client.ts';
import type { Wire } from '../../http/wire.ts';
import type { BatchFailure } from '../batcher.ts';
import { RefusedError } from './refused-error.ts';
import { createdBody, expectOk, ReplyError } from './replies.ts';

const clock = { now: () => 1_000_000, setTimeout, clearTimeout: () => {} };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** A wire to a server that gives every request this reply. */
async function wireTo({ status, body = '{}', headers = {} }: Reply): Promise<Wire> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createHttpClient({ clock });
  cleanups.push(
    () => client.close(),
    () => void server.close().closeAllConnections(),
  );
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return client.wire({ base, origins: [base], credentials: () => ({}) });
}

async function create(reply: Reply): Promise<unknown> {
  const wire = await wireTo(reply);
  return createdBody(wire, await wire.send({ method: 'POST', path: '/batches', body: '{}' }));
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

async function refusalOf(reply: Reply): Promise<BatchFailure> {
  const error = await failureOf(create(reply));
  if (!(error instanceof RefusedError)) throw new Error(`not refused: ${error}`);
  return error.failure;
}

describe('the reply to a create', () => {
  it.each([200, 201, 202])('with status %i is the batch', async (status) => {
    expect(await create({ status, body: '{"id":"batch_1"}' })).toEqual({ id: 'batch_1' });
  });

  it('with status 200 and no JSON leaves open what happened', async () => {
    const error = await failureOf(create({ status: 200, body: '<html>' }));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
  });

  it.each([
    [400, 'refused'],
    [401, 'denied'],
    [403, 'denied'],
    [404, 'gone'],
    [409, 'refused'],
    [410, 'gone'],
    [422, 'refused'],
  ])('with status %i fails every caller: %s', async (status, meaning) => {
    const body = '{"error":{"message":"No such thing.","type":"x"}}';
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect(await refusalOf({ status, body, headers })).toEqual({
      code: `http_${status}`,
      message: 'No such thing.',
      meaning,
      next: 'fail',
      answer: { status, headers, body },
    });
  });

  it('with status 413 asks for smaller batches', async () => {
    const failure = await refusalOf({ status: 413, body: '<html>too large' });
    expect(failure).toMatchObject({ next: 'smaller', answer: { status: 413 } });
    expect(failure.message).toContain('413');
  });

  it.each([429, 503, 529])(
    'with status %i was not accepted and can be sent later',
    async (status) => {
      const failure = await refusalOf({ status, headers: { 'retry-after': '7' } });
      expect(failure).toMatchObject({ code: `http_${status}`, next: 'later', retryAfter: 7_000 });
    },
  );

  it('says nothing of a time to wait where the provider says nothing', async () => {
    expect(await refusalOf({ status: 429 })).not.toHaveProperty('retryAfter');
  });

  it('reads a date to wait for against the clock it was given', async () => {
    const date = new Date(clock.now() + 60_000).toUTCString();
    const failure = await refusalOf({ status: 429, headers: { 'retry-after': date } });
    expect(failure.retryAfter).toBe(60_000);
  });

  it.each([408, 500, 502, 504, 520])('with status %i may have been accepted', async (status) => {
    const error = await failureOf(create({ status, body: 'oops' }));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(error).toMatchObject({ facts: { status } });
  });

  it.each([
    ['{"error":"plain text"}', 'plain text'],
    ['{"message":"at the top"}', 'at the top'],
    ['{"detail":"as frameworks say it"}', 'as frameworks say it'],
    ['{"type":"error","error":{"type":"x","message":"as Anthropic"}}', 'as Anthropic'],
  ])('that says %s is understood', async (body, message) => {
    expect((await refusalOf({ status: 400, body })).message).toBe(message);
  });
});

describe('a reply that should be fine', () => {
  async function ask(reply: Reply) {
    const wire = await wireTo(reply);
    return expectOk(wire, { method: 'GET', path: '/files?signature=secret' });
  }

  it('is handed on', async () => {
    expect(await (await ask({ status: 200, body: '{"a":1}' })).json()).toEqual({ a: 1 });
  });

  it.each([
    [401, 'fail'],
    [404, 'fail'],
    [408, 'later'],
    [429, 'later'],
    [500, 'later'],
    [503, 'later'],
    [529, 'later'],
  ])('but has status %i is an error that says: %s', async (status, next) => {
    const error = await failureOf(ask({ status, body: '{"error":{"message":"told why"}}' }));
    expect(error).toBeInstanceOf(ReplyError);
    expect(error).toMatchObject({ code: 'REFUSED', status, failure: { next } });
    expect((error as Error).message).toMatch(/^GET \/files was answered .*told why/);
    expect((error as Error).message).not.toContain('secret');
  });

  it('and redirects is an error: nothing is followed', async () => {
    const error = await failureOf(ask({ status: 302, headers: { location: '/elsewhere' } }));
    expect(error).toMatchObject({ status: 302 });
  });
});
