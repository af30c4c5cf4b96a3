// What a program needs of a Batch API: used by the two scripts that batchling is measured against.
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { pollMilliseconds } from './measure.mjs';

const [base] = process.argv.slice(2);
const authorization = 'Bearer sk-bench';
const lineFeed = 10;

export const batchSize = 10_000;
const linesPerChunk = 64;

/** The lines as bytes, some dozens at a time; made first, because the length is sent first. */
export function encode(calls, lineOf) {
  const chunks = [];
  for (let at = 0; at < calls.length; at += linesPerChunk) {
    let text = '';
    for (const call of calls.slice(at, at + linesPerChunk)) text += `${lineOf(call)}\n`;
    chunks.push(Buffer.from(text));
  }
  return chunks;
}

/** The id of the new file. */
export async function upload(chunks) {
  const boundary = 'floor-2f6c1d1d7f0e4c55';
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="floor.jsonl"\r\n` +
      'Content-Type: application/jsonl\r\n\r\n',
  );
  const parts = [head, ...chunks, Buffer.from(`\r\n--${boundary}--\r\n`)];
  const { id } = await ask('POST', '/files', {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(parts.reduce((sum, part) => sum + part.length, 0)),
    },
    body: (async function* () {
      yield* parts;
    })(),
  });
  return id;
}

/** The id of the new batch. */
export async function create(file) {
  const order = {
    input_file_id: file,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  };
  const { id } = await ask('POST', '/batches', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  return id;
}

/** The lines of the results of a batch, when it has ended. */
export async function* resultsOf(id) {
  let batch;
  do {
    await sleep(pollMilliseconds);
    batch = await ask('GET', `/batches/${id}`);
  } while (batch.status !== 'completed');
  const path = `${base}/files/${batch.output_file_id}/content`;
  const { body } = await request(path, { headers: { authorization } });
  yield* lines(body);
}

async function* lines(chunks) {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      yield bytes.toString('utf8', start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
}

async function ask(method, path, { headers, body } = {}) {
  const reply = await request(`${base}${path}`, {
    method,
    headers: { authorization, ...headers },
    body,
  });
  if (reply.statusCode !== 200) throw new Error(`${method} ${path}: ${await reply.body.text()}`);
  return reply.body.json();
}
