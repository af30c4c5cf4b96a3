import type { IncomingHttpHeaders } from 'node:http';
import { isObject, type JsonObject } from './json.ts';

/** One HTTP request as a provider sees it. */
export interface Exchange {
  method: string;
  /** Without the provider's mount prefix, e.g. `/v1/batches`. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** What absolute URLs in answers start with, e.g. `http://127.0.0.1:4010/anthropic`. */
  origin: string;
  /** Short hash of the credential and its scope; empty before the credential was checked. */
  account: string;
  body: AsyncIterable<Buffer>;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: string | Buffer[];
}

interface RefusalDetails {
  type?: string;
  code?: string;
  param?: string;
  headers?: Record<string, string>;
}

/** Thrown by a provider's handlers; answered in that provider's error shape. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: RefusalDetails;

  constructor(status: number, message: string, details: RefusalDetails = {}) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

export function jsonReply(value: unknown, status = 200): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}

export function eventStreamReply(events: string): Reply {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    body: events,
  };
}

export async function readBytes(
  body: AsyncIterable<Buffer>,
  limit = Number.POSITIVE_INFINITY,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limit) throw new Refusal(413, 'Request exceeds the maximum size');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

export async function readJson(body: AsyncIterable<Buffer>, limit?: number): Promise<JsonObject> {
  const bytes = await readBytes(body, limit);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Refusal(400, 'We could not parse the JSON body of your request.');
  }
  if (!isObject(value)) throw new Refusal(400, 'The JSON body of your request must be an object.');
  return value;
}
