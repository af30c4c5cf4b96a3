import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Reply } from './exchange.ts';

export async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  const chunks = chunksOf(reply);
  response.writeHead(reply.status, headersOf(reply, chunks));
  await pipeline(Readable.from(chunks, { objectMode: false }), response);
}

const encoders = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

export function sendEncoded(
  response: ServerResponse,
  reply: Reply,
  encoding: keyof typeof encoders,
): Promise<void> {
  const body = [encoders[encoding](Buffer.concat(chunksOf(reply)))];
  const headers = { ...reply.headers, 'content-encoding': encoding };
  return sendReply(response, { ...reply, headers, body });
}

/** Promises the whole body, delivers half of it and drops the connection. */
export async function sendTruncated(response: ServerResponse, reply: Reply): Promise<void> {
  const chunks = chunksOf(reply);
  response.writeHead(reply.status, headersOf(reply, chunks));
  const whole = Buffer.concat(chunks);
  const half = whole.subarray(0, Math.floor(whole.length / 2));
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.write(half, () => resolve());
  });
  response.socket?.destroy();
}

export async function sendChunked(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status, reply.headers);
  await pipeline(Readable.from(chunksOf(reply), { objectMode: false }), response);
}

/** The end of the connection ends the body, as in HTTP/1.0: a whole body looks like one that was cut off. */
export async function sendClosing(
  response: ServerResponse,
  reply: Reply,
  cut: boolean,
): Promise<void> {
  response.shouldKeepAlive = false;
  response.useChunkedEncodingByDefault = false;
  response.writeHead(reply.status, reply.headers);
  const whole = Buffer.concat(chunksOf(reply));
  response.end(cut ? whole.subarray(0, Math.floor(whole.length / 2)) : whole);
}

export async function sendTrickle(
  response: ServerResponse,
  reply: Reply,
  pause: () => Promise<void>,
): Promise<void> {
  const chunks = chunksOf(reply);
  response.writeHead(reply.status, headersOf(reply, chunks));
  for (const byte of Buffer.concat(chunks)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await pause();
  }
  response.end();
}

/** A proxy's own page. The rest of the request is read, as proxies do, and thrown away. */
export async function sendPage(response: ServerResponse, status: number): Promise<void> {
  response.shouldKeepAlive = false;
  const page = `<html><body><h1>${status}</h1></body></html>`;
  response.writeHead(status, { 'content-type': 'text/html' }).end(page);
}

function chunksOf(reply: Reply): Buffer[] {
  return typeof reply.body === 'string' ? [Buffer.from(reply.body)] : reply.body;
}

function headersOf(reply: Reply, chunks: Buffer[]): Record<string, string | number> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { ...reply.headers, 'content-length': length };
}
