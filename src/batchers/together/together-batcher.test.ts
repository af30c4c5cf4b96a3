import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { UnknownOutcomeError } from '../../base/errors.ts';
import type { OpenAILike } from '../../simulator/index.ts';
import { togetherDescription } from '../../simulator/together/description.ts';
import {
  all,
  apiKey,
  type BatcherSubject,
  failureOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { ReplyError } from '../shared/replies.ts';
import { TogetherBatcher } from './together-batcher.ts';

const subject: BatcherSubject = {
  batcher: new TogetherBatcher(),
  path: '/chat/completions',
  body: (content) => ({ model: 'llama-test', messages: [{ role: 'user', content }] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
};
const toStorage = { method: 'PUT', path: /^\/uploads\// };

describe('an upload', () => {
  it('describes the file, is redirected, and sends the bytes without the key', async () => {
    const { batcher, wire, simulator } = await openBench(subject);
    const plan = planOf(subject, ['one', 'two']);
    const handle = await batcher.stage(wire, plan);
    const [described, stored, ...others] = simulator.requests;
    expect(others).toEqual([]);
    expect(described).toMatchObject({ method: 'POST', path: '/v1/files' });
    expect(described?.headers).toMatchObject({
      authorization: 'REDACTED',
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(Object.fromEntries(new URLSearchParams(described?.query))).toEqual({
      file_name: `${plan.token}.jsonl`,
      file_type: 'jsonl',
      purpose: 'batch-api',
    });
    expect(stored).toMatchObject({ method: 'PUT', account: null });
    expect(stored?.headers.host).not.toBe(described?.headers.host);
    expect(Object.keys(stored?.headers ?? {}).sort()).toEqual([
      ...['connection', 'content-length', 'content-type', 'host'],
    ]);
    expect(stored?.headers['content-length']).toBe(String(plan.bytes + plan.count));
    expect(Object.keys(handle)).toEqual(['fileId']);
  });

  it.each([400, 403, 404, 410, 429, 500, 503])(
    'that the storage answers with %i is tried again with a fresh URL, and shows none',
    async (status) => {
      const { batcher, wire, simulator } = await openBench(subject);
      const plan = planOf(subject, ['one']);
      const body = `<Error>${apiKey} X-Amz-Signature=`;
      simulator.faults.add({ ...toStorage, action: { kind: 'status', status, body } });
      const error = await failureOf(batcher.stage(wire, plan));
      expect(error).toBeInstanceOf(ReplyError);
      expect(error).toMatchObject({ status, failure: { meaning: 'busy', next: 'later' } });
      expectNoUrl(error, simulator.requests);
      const { fileId } = await batcher.stage(wire, plan);
      expect(fileId).toBeTruthy();
      expect(new Set(urlsOf(simulator.requests)).size).toBe(2);
    },
  );

  it('that is too large for the storage goes in smaller batches', async () => {
    const { batcher, wire, simulator } = await openBench(subject);
    simulator.faults.add({ ...toStorage, action: { kind: 'status', status: 413 } });
    const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
    expect(error).toMatchObject({ failure: { meaning: 'refused', next: 'smaller' } });
  });

  it.each(['reset', 'lost'] as const)(
    'whose connection to the storage breaks (%s) shows no URL',
    async (kind) => {
      const { batcher, wire, simulator } = await openBench(subject);
      simulator.faults.add({ ...toStorage, action: { kind } });
      const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
      expect(error).toBeInstanceOf(UnknownOutcomeError);
      expectNoUrl(error, simulator.requests);
    },
  );

  const location = 'http://127.0.0.1:9/uploads/place-of-the-file?X-Amz-Signature=0123456789abcdef';
  it.each([
    ['no location', { 'x-together-file-id': 'file-1' }],
    ['an empty location', { 'x-together-file-id': 'file-1', location: '' }],
    ['no URL', { 'x-together-file-id': 'file-1', location: 'http://' }],
    ['no id', { location }],
    ['an empty id', { location, 'x-together-file-id': '' }],
  ])('that is redirected with %s is not understood', async (_what, headers) => {
    const { batcher, wire, strike, simulator } = await openBench(subject);
    strike('upload', { kind: 'status', status: 302, body: '', headers });
    const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect(inspect(error)).not.toMatch(/place-of-the-file|0123456789abcdef/);
    expect(simulator.countRequests('PUT', /./)).toBe(0);
  });

  it('that is redirected to the origin of the API itself goes there without the key', async () => {
    const { batcher, wire, strike, simulator } = await openBench(subject);
    const headers = { 'x-together-file-id': 'file-1', location: '/together/uploads/here' };
    strike('upload', { kind: 'status', status: 302, body: '', headers });
    await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
    const [described, stored] = simulator.requests;
    expect(stored).toMatchObject({ method: 'PUT', path: '/uploads/here', account: null });
    expect(stored?.headers.host).toBe(described?.headers.host);
    expect(stored?.headers).not.toHaveProperty('authorization');
  });

  it('is one form at a server that does not redirect', async () => {
    const direct = { ...subject, simulated: 'direct', openaiLike: withoutRedirects };
    const { send, ended, rows, simulator } = await openBench(direct);
    const { plan, handle, remote } = await send(['one', 'two']);
    expect(await rows(await ended(remote, plan, handle))).toHaveLength(2);
    const posts = simulator.requests.filter(({ method }) => method === 'POST');
    expect(posts.map(({ path }) => path)).toEqual([
      ...['/v1/files', '/v1/files/upload', '/v1/batches'],
    ]);
  });

  it.each([{}, { id: '' }, [], null])(
    'that is answered with %j is not understood',
    async (body) => {
      const { batcher, wire, strike } = await openBench(subject);
      strike('upload', { kind: 'status', status: 200, body: JSON.stringify(body) });
      const error = await failureOf(batcher.stage(wire, planOf(subject, ['one'])));
      expect(error).toBeInstanceOf(UnknownOutcomeError);
    },
  );
});

describe('a create', () => {
  it('that has a warning and no job is refused with the warning, without the key', async () => {
    for (const job of [undefined, null]) {
      const { batcher, wire, strike } = await openBench(subject);
      const plan = planOf(subject, ['one']);
      const handle = await batcher.stage(wire, plan);
      const body = { job, warning: `Model llama-test is not batched (${apiKey}).` };
      strike('create', { kind: 'status', status: 201, body });
      const error = await failureOf(batcher.create(wire, plan, handle));
      expect(error).toBeInstanceOf(RefusedError);
      expect(error).toMatchObject({ failure: { next: 'fail', answer: { status: 400 } } });
      expect((error as RefusedError).failure.answer?.body).toContain('is not batched');
      expect(inspect(error, { depth: 10 })).not.toContain(apiKey);
    }
  });

  it.each([
    ['an empty warning', { warning: '' }],
    ['a job without an id', { job: { status: 'VALIDATING' }, warning: 'odd' }],
    ['a job without a status', { job: { id: 'job-1' }, warning: 'odd' }],
  ])('that is answered with %s may have been accepted', async (_what, body) => {
    const { batcher, wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['one']);
    const handle = await batcher.stage(wire, plan);
    strike('create', { kind: 'status', status: 201, body });
    expect(await failureOf(batcher.create(wire, plan, handle))).toBeInstanceOf(UnknownOutcomeError);
  });

  it.each([
    ['in its envelope, beside a warning', (job: object) => ({ job, warning: 'No discount.' })],
    ['bare', (job: object) => job],
  ])('is accepted where the job comes %s', async (_what, wrap) => {
    const { batcher, wire, strike } = await openBench(subject);
    const plan = planOf(subject, ['one']);
    const handle = await batcher.stage(wire, plan);
    const body = wrap({ id: 'job-1', status: 'VALIDATING' });
    strike('create', { kind: 'status', status: 201, body });
    expect(await batcher.create(wire, plan, handle)).toMatchObject({
      id: 'job-1',
      state: 'queued',
    });
  });
});

it('shows progress while a batch runs, by one poll or by the list', async () => {
  const { batcher, wire, send, simulator } = await openBench(subject);
  simulator.hold();
  const sent = [];
  for (const prompt of ['a', 'b', 'c']) sent.push(await send([prompt, `${prompt}!`]));
  await expect.poll(() => simulator.batches().every(({ total }) => total === 2)).toBe(true);
  const polled = sent.map(({ remote, plan, handle }) => ({
    id: remote.id,
    count: plan.count,
    handle,
  }));
  const counts = { total: 2, completed: 0, failed: 0 };
  for (const batches of [polled, polled.slice(0, 1)]) {
    const seen = await all(batcher.poll(wire, batches));
    expect(seen).toHaveLength(batches.length);
    for (const remote of seen) expect(remote.counts).toEqual(counts);
  }
  expect(simulator.requests.filter(({ path }) => path === '/v1/batches').at(-1)?.query).toBe('');
});

it.each([
  ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 0.5],
  ['Qwen/Qwen2.5-7B-Instruct-Turbo', 1],
  ['our-account/meta-llama/Llama-3.3-70B-Instruct-Turbo', 1],
])('prices %s in a batch at %d of its price', (model, priceShare) => {
  const { windows } = new TogetherBatcher().limits({ model });
  expect(windows).toEqual({ '24h': { word: '24h', priceShare } });
});

/** A service behind a gateway that follows no redirects and takes files in one form only. */
const withoutRedirects: OpenAILike = {
  ...togetherDescription,
  name: 'direct',
  moreRoutes: ({ files }) => [
    [
      'POST',
      '/v1/files',
      ({ account }) => {
        const file = files.add({ account, filename: 'x', purpose: 'batch-api', chunks: [] });
        return { status: 200, body: JSON.stringify(files.show(file)) };
      },
    ],
    ['POST', '/v1/files/upload', files.upload],
  ],
};

type Logged = readonly { method: string; path: string; query: string }[];

function urlsOf(requests: Logged): string[] {
  return requests.filter(({ method }) => method === 'PUT').map(({ path, query }) => path + query);
}

function expectNoUrl(error: unknown, requests: Logged): void {
  const [url = ''] = urlsOf(requests);
  const shown = inspect(error, { depth: 10 });
  const place = url.split(/[/?]/)[2] as string;
  const signature = new URLSearchParams(url.split('?')[1]).get('X-Amz-Signature') as string;
  expect(place.length).toBeGreaterThan(8);
  expect(signature.length).toBeGreaterThan(8);
  for (const secret of [place, signature, apiKey]) expect(shown).not.toContain(secret);
}
