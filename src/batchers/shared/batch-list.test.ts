import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import { createHttpClient } from '../../http/client.ts';
import type { Wire } from '../../http/wire.ts';
import { AnthropicBatcher } from '../anthropic/anthropic-batcher.ts';
import type { Batcher, Plan, Remote } from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';

const openai = new OpenAIBatcher();
const anthropic = new AnthropicBatcher();
const clock = { now: () => 1_000_000, setTimeout, clearTimeout: () => {} };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type BatchObject = Readonly<Record<string, unknown> & { id: string }>;

/** An account with these batches, in this order, and what was asked about them. */
async function account(batches: readonly BatchObject[]) {
  const asked: string[] = [];
  const wire = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    asked.push(pathname);
    const named = batches.find(({ id }) => pathname.endsWith(`/batches/${id}`));
    const after = searchParams.get('after') ?? searchParams.get('after_id');
    const start = after === null ? 0 : batches.findIndex(({ id }) => id === after) + 1;
    const end = start + Number(searchParams.get('limit'));
    const list = { data: batches.slice(start, end), has_more: end < batches.length };
    const one = request.method === 'POST' ? batches[0] : named;
    const found = one ?? (pathname.endsWith('/batches') ? list : undefined);
    request.resume().on('end', () => {
      response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found ?? {}));
    });
  });
  return { wire, asked };
}

/** A provider that answers everything with 200 and this body. */
function answering(body: string): Promise<Wire> {
  return serve((_request, response) => void response.writeHead(200).end(body));
}

async function serve(listener: RequestListener): Promise<Wire> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createHttpClient({ clock });
  cleanups.push(
    () => client.close(),
    () => void server.close().closeAllConnections(),
  );
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = () => ({ headers: { authorization: 'Bearer sk-secret-key' } });
  return client.wire({ base, origins: [base], credentials });
}

/** Batches that run, each with the fields that `own` adds. */
function running(count: number, own: (at: number) => object = () => ({})): BatchObject[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `batch_${at}`,
    status: 'in_progress',
    ...own(at),
  }));
}

/** Batches of which those at these places have our file. */
function withOurs(count: number, ...places: number[]): BatchObject[] {
  return running(count, (at) => ({ input_file_id: places.includes(at) ? 'file-ours' : 'other' }));
}

async function findOurs(wire: Wire, uploadedAt?: number): Promise<string[]> {
  const found = await openai.find(
    wire,
    { token: 't', count: 3 },
    {
      fileId: 'file-ours',
      ...(uploadedAt !== undefined && { uploadedAt: String(uploadedAt * 1000) }),
    },
  );
  return found.kind === 'exact' ? found.remotes.map(({ id }) => id) : [];
}

async function poll(wire: Wire, batcher: Batcher, ids: readonly string[]): Promise<Remote[]> {
  const remotes: Remote[] = [];
  const batches = ids.map((id) => ({ id, count: 1, handle: {} }));
  for await (const remote of batcher.poll(wire, batches)) remotes.push(remote);
  return remotes;
}

describe('looking for a batch of OpenAI', () => {
  it('finds its twin on the next page, too, and reads no further', async () => {
    const { wire, asked } = await account(withOurs(500, 99, 100));
    expect(await findOurs(wire)).toEqual(['batch_99', 'batch_100']);
    expect(asked).toHaveLength(3);
  });

  it('reads one page more than the one it is on', async () => {
    const { wire, asked } = await account(withOurs(500, 150));
    expect(await findOurs(wire)).toEqual(['batch_150']);
    expect(asked).toHaveLength(3);
  });

  it('ends with the list', async () => {
    const { wire, asked } = await account(withOurs(30, 7));
    expect(await findOurs(wire)).toEqual(['batch_7']);
    expect(asked).toHaveLength(1);
  });

  it('reads to the end of the list before it is absent', async () => {
    const { wire, asked } = await account(withOurs(9_999));
    expect(await findOurs(wire)).toEqual([]);
    expect(asked).toHaveLength(100);
  });

  it('reads no further than batches that are older than its file', async () => {
    const { wire, asked } = await account(running(500, (at) => ({ created_at: 10_000 - at })));
    expect(await findOurs(wire, 9_850)).toEqual([]);
    expect(asked).toHaveLength(2);
  });

  it('reads to the end of a list that begins with the oldest, or goes to and fro', async () => {
    for (const time of [(at: number) => at, (at: number) => (at * 7) % 500]) {
      const list = withOurs(500, 450).map((batch, at) => ({ ...batch, created_at: time(at) }));
      const { wire, asked } = await account(list);
      expect(await findOurs(wire, time(450))).toEqual(['batch_450']);
      expect(asked).toHaveLength(5);
    }
  });
});

describe('looking for a batch of Anthropic', () => {
  it('takes every newer one of the same size, on any page', async () => {
    const ours = [0, 150, 160, 170];
    const { wire, asked } = await account(
      running(500, (at) => ({ request_counts: { processing: ours.includes(at) ? 3 : 4 } })),
    );
    const found = await anthropic.find(wire, { token: 't', count: 3 }, { highWater: 'batch_165' });
    expect(found).toMatchObject({
      kind: 'candidates',
      remotes: [{ id: 'batch_0' }, { id: 'batch_150' }, { id: 'batch_160' }],
    });
    expect(asked).toHaveLength(2);
  });

  it('reads to the end of the list before it is absent', async () => {
    const { wire, asked } = await account(
      running(9_999, () => ({ request_counts: { processing: 4 } })),
    );
    expect(await anthropic.find(wire, { token: 't', count: 3 }, {})).toEqual({ kind: 'absent' });
    expect(asked).toHaveLength(100);
  });

  it('takes the newer ones of a list that begins with the oldest, and no others', async () => {
    const times = (at: number) => new Date(1_000 * at).toISOString();
    const list = running(250, (at) => ({
      created_at: times(at),
      request_counts: { processing: 3 },
    }));
    const before = await account(list.slice(0, 240));
    const plan = { token: 't', count: 3, route: { batchHeaders: {} } } as unknown as Plan;
    const handle = await anthropic.stage(before.wire, plan);
    expect(handle).toMatchObject({ highWater: 'batch_239', highWaterAt: '239000' });
    const after = await account(list);
    const found = await anthropic.find(after.wire, plan, handle);
    expect(found.kind === 'candidates' && found.remotes.map(({ id }) => id)).toEqual(
      list.slice(240).map(({ id }) => id),
    );
  });

  it('marks the newest with one request where that comes first', async () => {
    const list = running(250, (at) => ({ created_at: new Date(1e6 - at).toISOString() }));
    const { wire, asked } = await account(list);
    const plan = { route: { batchHeaders: {} } } as unknown as Plan;
    expect(await anthropic.stage(wire, plan)).toMatchObject({
      highWater: 'batch_0',
      highWaterAt: '1000000',
    });
    expect(asked).toHaveLength(1);
  });
});

describe.each([
  ['OpenAI', openai],
  ['Anthropic', anthropic],
] as const)('a list of %s that is no list', (_name, batcher) => {
  it.each([
    ['an empty object', '{}'],
    ['null for its batches', '{"data":null}'],
    ['an error', '{"error":{"message":"no"}}'],
    ['an array', '[]'],
    ['batches without ids', '{"data":[{"status":"completed"}],"has_more":false}'],
    ['nothing, and more to come', '{"data":[],"has_more":true}'],
    ['a page for people', '<html></html>'],
    ['half of a list', '{"data":[{"id":"batch_1"}'],
  ])('(%s) proves nothing', async (_what, body) => {
    const wire = await answering(body);
    const plan = { token: 't', count: 3 };
    await expect(batcher.find(wire, plan, { fileId: 'file-ours' })).rejects.toThrow(
      UnknownOutcomeError,
    );
  });

  it('and that has no end proves nothing', async () => {
    const wire = await answering('{"data":[{"id":"batch_1"}],"has_more":true}');
    const plan = { token: 't', count: 3 };
    await expect(batcher.find(wire, plan, {})).rejects.toThrow(/does not come to an end/);
  });
});

describe.each([
  ['OpenAI', openai, '/batches'],
  ['Anthropic', anthropic, '/messages/batches'],
] as const)('polling %s', (_name, batcher, path) => {
  it('asks for one or two batches by their ids', async () => {
    const { wire, asked } = await account(running(500));
    const ids = ['batch_7', 'batch_300'];
    expect((await poll(wire, batcher, ids)).map(({ id }) => id)).toEqual(ids);
    expect(asked).toEqual(ids.map((id) => `${path}/${id}`));
  });

  it('asks for three by a list, and by their ids for those that are far down', async () => {
    const { wire, asked } = await account(running(500));
    const ids = ['batch_7', 'batch_250', 'batch_300'];
    expect((await poll(wire, batcher, ids)).map(({ id }) => id)).toEqual(ids);
    expect(asked).toEqual([path, path, path, `${path}/batch_300`]);
  });

  it('says which are missing', async () => {
    const { wire } = await account(running(3));
    const remotes = await poll(wire, batcher, ['batch_1', 'batch_9']);
    expect(remotes.map(({ state }) => state)).toEqual(['running', 'missing']);
  });
});

describe('a credential that is echoed in a failed batch', () => {
  const message = 'The key sk-secret-key has no access.';
  const errors = { data: [{ code: 'model_not_found', message, line: 1 }] };
  const failed = (id: string) => ({ id, status: 'failed', input_file_id: 'file-ours', errors });
  const plan = { token: 't', route: { endpoint: '/v1/embeddings', batchHeaders: {} }, tags: {} };

  it.each([
    ['created', (wire: Wire) => openai.create(wire, plan as unknown as Plan, { fileId: 'file-1' })],
    ['found', (wire: Wire) => openai.find(wire, { token: 't', count: 1 }, { fileId: 'file-ours' })],
    ['polled by its id', (wire: Wire) => poll(wire, openai, ['a'])],
    ['polled by a list', (wire: Wire) => poll(wire, openai, ['a', 'b', 'c'])],
  ])('is not shown when that is %s', async (_how, read) => {
    const { wire } = await account(['a', 'b', 'c'].map(failed));
    const seen = JSON.stringify(await read(wire));
    expect(seen).toContain('The key [redacted] has no access.');
    expect(seen).not.toContain('sk-secret-key');
  });
});
