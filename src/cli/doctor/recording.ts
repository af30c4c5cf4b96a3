import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { Dict } from '../../base/types.ts';
import type { WireReply, WireRequest } from '../../http/wire.ts';
import type { Redactor } from './redactor.ts';

/** One request of ours and what came back, without secrets. */
export interface Exchange {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Dict;
  /** JSON, or a text. */
  readonly body: unknown;
}

/** What `--record` writes, and `npm run test:recordings` replays. */
export interface Recording {
  readonly provider: string;
  /** Where it comes from. */
  readonly source: string;
  /** The day of the check; null: it was put together from what is published. */
  readonly recorded: string | null;
  readonly model: string;
  /** The path of the base URL, beside which some providers have their batches. Missing: `/v1`. */
  readonly base?: string;
  readonly finished: RecordedBatch;
  readonly cancelled?: RecordedBatch;
}

/** The life of one batch. */
export interface RecordedBatch {
  readonly token: string;
  readonly itemId: string;
  readonly exchanges: readonly Exchange[];
  /** What batchling made of it. */
  readonly outcome: object;
}

/** Headers that batchers read, and that say nothing of the account. */
const keptHeaders: readonly string[] = [
  'content-type',
  'transfer-encoding',
  'retry-after',
  'x-incomplete',
  'x-last-line',
];

/** Reads the body of a reply that is kept, and makes the reply anew for its next reader. */
export async function keptReply(reply: WireReply): Promise<{ reply: WireReply; text: string }> {
  const text = await reply.text();
  return { reply: replyOf(reply.status, reply.headers, text), text };
}

export function replyOf(status: number, headers: Dict, text: string): WireReply {
  return {
    status,
    headers,
    async *bytes() {
      yield Buffer.from(text);
    },
    text: async () => text,
    json: async () => {
      try {
        return JSON.parse(text) as unknown;
      } catch (cause) {
        throw new UnknownOutcomeError('The recorded body is no JSON.', cause);
      }
    },
    discard: async () => undefined,
  };
}

/**
 * A path as it is joined to this base. Some batchers ask for whole URLs, and a provider may name its results by one: when
 * they are replayed the base is another.
 */
export function pathBelow(base: string, path: string): string {
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

export function exchangeOf(
  { method, path, signed }: Pick<WireRequest, 'method' | 'path' | 'signed'>,
  { status, headers }: Pick<WireReply, 'status' | 'headers'>,
  text: string,
  redactor: Redactor,
): Exchange {
  const [address = ''] = path.replace(/^https?:\/\/[^/]+/, '').split('?');
  const shown = signed ? '(signed URL)' : redactor.text(decodeURIComponent(address));
  const kept = keptHeaders.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, redactor.text(value)]];
  });
  const known = { status, headers: Object.fromEntries(kept) as Dict };
  return { method, path: shown, ...known, body: redactor.body(text) };
}

/** Returns the path of the new file. */
export async function writeRecording(folder: string, recording: Recording): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${recording.provider}-${recording.recorded}.json`);
  await writeFile(path, `${JSON.stringify(recording, undefined, 2)}\n`);
  return path;
}
