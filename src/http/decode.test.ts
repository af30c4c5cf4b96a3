import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../base/errors.ts';
import { createHttpClient } from './client.ts';
import { splitLines } from './jsonl.ts';
import type { WireReply } from './wire.ts';

const clock = { now: Date.now, setTimeout, clearTimeout };
const cleanups: (() => unknown)[] = [];
const text = '{"é":1}\n'.repeat(1_000);

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(body: Buffer, encoding: string): Promise<() => Promise<WireReply>> {
  const server: Server = createServer((_request, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createHttpClient({ clock });
  cleanups.push(() => server.close(), client.close);
  const wire = client.wire({ base, origins: [base], credentials: () => ({}) });
  return () => wire.send({ method: 'GET', path: '/' });
}

async function failureOf(reading: Promise<unknown>): Promise<Error> {
  const error: unknown = await reading.then(
    () => 'no failure',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(UnknownOutcomeError);
  return error as Error;
}

describe('a body that a gateway has encoded', () => {
  it.each([
    ['gzip', gzipSync(text)],
    ['X-GZip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
    ['deflate, gzip', gzipSync(deflateSync(text))],
    ['gzip', Buffer.concat([gzipSync(text.slice(0, 5_000)), gzipSync(text.slice(5_000))])],
  ])('is read as it was before: %s', async (encoding, body) => {
    const ask = await serve(body, encoding);
    expect(await (await ask()).text()).toBe(text);
    const lines: string[] = [];
    for await (const group of splitLines((await ask()).bytes())) lines.push(...group.map(String));
    expect(lines).toEqual(text.trim().split('\n'));
  });

  it.each(['gzip', 'br'])('is empty when nothing came: %s', async (encoding) => {
    const ask = await serve(Buffer.alloc(0), encoding);
    expect(await (await ask()).text()).toBe('');
  });

  it.each([
    ['cut off', 'gzip', gzipSync(text).subarray(0, 60), 'unexpected end of file'],
    ['not encoded at all', 'gzip', Buffer.from(text), 'incorrect header check'],
    ['broken in the middle', 'deflate', broken(deflateSync(text)), 'incorrect data check'],
    ['in an encoding nobody knows', 'zstd', Buffer.alloc(500_000), '"zstd" is not known'],
  ])('is an unknown outcome when it is %s', async (_what, encoding, body, why) => {
    const ask = await serve(body, encoding);
    const { message } = await failureOf((await ask()).text());
    expect(message).toContain('answered 200, but the body cannot be decoded');
    expect(message).toContain(why);
    // The connection is free, whatever came over it.
    expect((await ask()).status).toBe(200);
  });

  it('is an unknown outcome when it would fill the memory', async () => {
    const ask = await serve(gzipSync(Buffer.alloc(70_000_000)), 'gzip');
    expect((await failureOf((await ask()).text())).message).toContain('is longer than');
    expect(await readAll(await ask())).toBe(70_000_000);
    const bomb = await serve(gzipSync(gzipSync(Buffer.alloc(70_000_000))), 'gzip, gzip');
    const { message } = await failureOf(readAll(await bomb()));
    expect(message).toMatch(/cannot be decoded: \d+ bytes of it decode to more than \d+/);
  });

  it('can be left in the middle', async () => {
    const ask = await serve(gzipSync(Buffer.alloc(10_000_000)), 'gzip');
    for await (const _chunk of (await ask()).bytes()) break;
    const reply = await ask();
    await reply.discard();
    expect((await ask()).status).toBe(200);
  });
});

/** As results are read: without keeping anything. */
async function readAll(reply: WireReply): Promise<number> {
  let bytes = 0;
  for await (const chunk of reply.bytes()) bytes += chunk.length;
  return bytes;
}

function broken(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(copy.readUInt32BE(copy.length - 4) ^ 1, copy.length - 4);
  return copy;
}
