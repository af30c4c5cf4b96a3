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

function chunksOf(reply: Reply): Buffer[] {
  return typeof reply.body === 'string' ? [Buffer.from(reply.body)] : reply.body;
}

function headersOf(reply: Reply, chunks: Buffer[]): Record<string, string | number> {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return { ...reply.headers, 'content-length': length };
}
