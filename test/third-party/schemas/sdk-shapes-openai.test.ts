import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/** One request with everything that a strict server could stumble over. */
interface Shape {
  readonly method: string;
  readonly path: string;
  readonly queryKeys: readonly string[];
  readonly contentType: string | undefined;
  /** Names of the parts of a form, or keys of a JSON body with the types of their values. */
  readonly fields: readonly string[];
}

const patiently = { interval: 5, timeout: 60_000 };

let simulator: Simulator;
let base: string;
let recorded: Shape[] = [];
let closeProxy: () => void;

beforeAll(async () => {
  simulator = await startSimulator({
    speed: { validating: 5, running: 5, finalizing: 5, cancelling: 5 },
  });
  const target = new URL(simulator.baseUrl('openai'));
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url = '', headers } = request;
    recorded.push(shapeOf(method, url, headers['content-type'], body));
    const options = { host: target.hostname, port: target.port, path: url, method, headers };
    forward(options, (reply) => {
      response.writeHead(reply.statusCode ?? 0, reply.headers);
      reply.pipe(response);
    })
      .on('error', () => response.destroy())
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  base = `http://127.0.0.1:${port}${target.pathname}`.replace(/\/$/, '');
  closeProxy = () => void server.close().closeAllConnections();
});

afterAll(async () => {
  closeProxy();
  await simulator.close();
});

function shapeOf(method: string, url: string, type: string | undefined, body: Buffer): Shape {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const contentType = type?.split(';')[0];
  return {
    method,
    path: pathname.replace(/\/(file-|batch_)[^/]+/g, '/<id>'),
    queryKeys: [...searchParams.keys()].sort(),
    contentType: body.length === 0 ? undefined : contentType,
    fields: fieldsOf(contentType, body.toString()).sort(),
  };
}

function fieldsOf(contentType: string | undefined, body: string): string[] {
  if (contentType === 'multipart/form-data') {
    const parts = body.matchAll(/^content-disposition: form-data; (.*)\r$/gim);
    return [...parts].map(([, disposition = '']) => {
      const [, name] = /\bname="([^"]*)"/.exec(disposition) ?? [];
      const [, ending] = /filename="[^"]*(\.\w+)"/.exec(disposition) ?? [];
      return `${name}${ending === undefined ? '' : ` as a ${ending} file`}`;
    });
  }
  if (body === '') return [];
  const json = JSON.parse(body) as Record<string, unknown>;
  return Object.entries(json).map(([key, value]) => `${key}: ${typeof value}`);
}

function named(shapes: readonly Shape[], method: string, path: RegExp): Shape | undefined {
  return shapes.find((shape) => shape.method === method && path.test(shape.path));
}

/** What the official SDK itself sends for the whole life of a batch. */
async function recordSdk(): Promise<readonly Shape[]> {
  recorded = [];
  const client = new OpenAI({ apiKey: 'sk-sdk', baseURL: base, maxRetries: 0 });
  const line = {
    custom_id: 'a',
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  };
  const file = await client.files.create({
    file: await toFile(Buffer.from(JSON.stringify(line)), 'lines.jsonl'),
    purpose: 'batch',
  });
  const create = () =>
    client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { name: 'value' },
    });
  const { id } = await create();
  const { output_file_id: output } = await vi.waitFor(async () => {
    const batch = await client.batches.retrieve(id);
    expect(batch.status).toBe('completed');
    return batch;
  }, patiently);
  await (await client.files.content(output ?? '')).text();
  await client.batches.list({ limit: 100, after: id });
  simulator.hold();
  await client.batches.cancel((await create()).id);
  simulator.release();
  await client.files.delete(file.id);
  return recorded;
}

/** What batchling sends: three batches so that it lists, one alone, one that is cancelled. */
async function recordOurs(): Promise<readonly Shape[]> {
  recorded = [];
  const options = {
    store: ':memory:',
    window: '20ms',
    poll: '10ms',
    hosts: { [base]: 'openai' },
    name: 'schema',
    tags: { team: 'a' },
  } as const;
  const scope = batchify(options);
  const client = new OpenAI({ apiKey: 'sk-ours', baseURL: base, fetch: scope.fetch });
  const ask = (model: string) =>
    client.chat.completions.create({ model, messages: [{ role: 'user', content: 'hello' }] });
  // A list pays from the third open batch on, so three stay open until one was asked for.
  simulator.hold();
  const together = Promise.all(['one', 'two', 'three'].map(ask));
  const list = () => expect(named(recorded, 'GET', /\/batches$/)).toBeDefined();
  await vi.waitFor(list, patiently);
  simulator.release();
  await together;
  await ask('alone');
  simulator.hold();
  const submitted = new Promise((resolve) => scope.on('batch:submitted', resolve));
  const asked = ask('cancelled').catch(() => undefined);
  await submitted;
  await scope.cancel();
  simulator.release();
  await asked;
  await scope.close();
  await vi.waitFor(() => expect(named(recorded, 'DELETE', /./)).toBeDefined(), patiently);
  return recorded;
}

describe('what we send to OpenAI has the shape of what its own SDK sends', () => {
  let sdk: readonly Shape[];
  let ours: readonly Shape[];

  beforeAll(async () => {
    sdk = await recordSdk();
    ours = await recordOurs();
  });

  it.each([
    ['the upload', 'POST', /\/files$/],
    ['the create', 'POST', /\/batches$/],
    ['the look at one batch', 'GET', /\/batches\/<id>$/],
    ['the reading of results', 'GET', /\/files\/<id>\/content$/],
    ['the cancellation', 'POST', /\/batches\/<id>\/cancel$/],
    ['the deletion of the file', 'DELETE', /\/files\/<id>$/],
  ])('%s', (_what, method, path) => {
    const official = named(sdk, method, path);
    expect(official).toBeDefined();
    expect(named(ours, method, path)).toEqual(official);
  });

  it('the list, of which the first page needs no cursor', () => {
    const official = named(sdk, 'GET', /\/batches$/);
    const listed = named(ours, 'GET', /\/batches$/);
    expect(official?.queryKeys).toEqual(['after', 'limit']);
    expect(listed).toEqual({ ...official, queryKeys: ['limit'] });
  });

  it('and nothing else', () => {
    const texts = (shapes: readonly Shape[]) =>
      new Set(shapes.map(({ method, path, fields }) => `${method} ${path} ${fields.join()}`));
    expect([...texts(ours)].filter((text) => !texts(sdk).has(text))).toEqual([]);
  });
});
