import { APIError } from 'openai';
import { describe, expect, it } from 'vitest';
import type { Wire, WireRequest } from '../../http/wire.ts';
import {
  all,
  type BatcherSubject,
  callOf,
  failureOf,
  idOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { SferenceBatcher } from './sference-batcher.ts';

const subject: BatcherSubject = {
  batcher: new SferenceBatcher(),
  path: '/chat/completions',
  body: (content) => ({ model: 'org/model', messages: [{ role: 'user', content }] }),
  requests: { create: '/v1/batches', results: /\/results\.jsonl$/ },
};

describe('a create that sference refuses', () => {
  it('because of one request accuses that one', async () => {
    const { batcher, wire, simulator } = await openBench(subject);
    const plan = planOf(subject, ['fine', '[[invalid]]']);
    const error = await failureOf(batcher.create(wire, plan, {}));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ failure: { next: 'isolate', bad: [{ line: 2 }] } });
    expect(simulator.batches()).toEqual([]);
  });

  it('tells the reason in a way that the SDK shows', async () => {
    const { batcher, wire, simulator } = await openBench(subject);
    simulator.configure({ models: ['another'] });
    const error = await failureOf(batcher.create(wire, planOf(subject, ['a']), {}));
    const { answer } = (error as RefusedError).failure;
    const shown = APIError.generate(400, JSON.parse(answer?.body ?? ''), undefined, new Headers());
    expect(shown.message).toContain('Unknown model: org/model');
  });
});

it('a call in the background is left alone', () => {
  const body = JSON.stringify({ ...subject.body('a'), background: true });
  expect(subject.batcher.match(callOf(subject, body))).toEqual({
    bypass: expect.stringContaining('background'),
  });
});

describe('results that sference has put elsewhere', () => {
  it.each([302, 404])('are read there after status %i, as a stranger', async (status) => {
    const { batcher, wire, simulator, send, ended, strike } = await openBench(subject);
    const { plan, handle, remote } = await send(['one']);
    const last = await ended(remote, plan, handle);
    const url = 'https://storage.example/x?signature=1';
    strike('results', { kind: 'status', status, headers: { location: url } });
    const elsewhere = { batch_id: last.id, status: 'completed', output_url: url, results: null };
    simulator.faults.add({
      method: 'GET',
      path: /\/results$/,
      action: { kind: 'status', status: 200, body: elsewhere },
    });
    const foreign: WireRequest[] = [];
    const storage: Wire = {
      ...wire,
      send(request) {
        if (request.path !== url) return wire.send(request);
        foreign.push(request);
        return wire.send({ method: 'GET', path: `/batches/${last.id}/results.jsonl` });
      },
    };
    const rows = (await all(batcher.results(storage, last))).flat();
    expect(rows).toMatchObject([{ id: idOf('one'), outcome: { kind: 'answer' } }]);
    // A wire shows the key to declared origins only, and this is none.
    expect(foreign).toEqual([{ method: 'GET', path: url }]);
    expect(batcher.origins(wire.base)).toEqual([new URL(wire.base).origin]);
  });

  it('are not asked for where that would show what is asked to the network', async () => {
    const { simulator, send, ended, rows, strike } = await openBench(subject);
    const { plan, handle, remote } = await send(['one']);
    const last = await ended(remote, plan, handle);
    strike('results', { kind: 'status', status: 302 });
    simulator.faults.add({
      method: 'GET',
      path: /\/results$/,
      action: { kind: 'status', status: 200, body: { output_url: 'http://127.0.0.1:1/x' } },
    });
    expect(await failureOf(rows(last))).toMatchObject({ code: 'FOREIGN_ORIGIN' });
  });
});

it('the list is asked for without parameters that sference does not know', async () => {
  const { batcher, wire, simulator, send } = await openBench(subject);
  const { plan, handle } = await send(['one']);
  await batcher.find(wire, plan, handle);
  const lists = simulator.requests.filter(
    ({ method, path }) => method === 'GET' && path === '/v1/batches',
  );
  expect(lists.map(({ query }) => query)).toEqual(['', '']);
});

it('a batch of another size, or older than the mark, is no candidate', async () => {
  const { batcher, wire, send } = await openBench(subject);
  await send(['older', 'of the same size']);
  await new Promise((resolve) => setTimeout(resolve, 5));
  await send(['the mark']);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const plan = planOf(subject, ['a', 'b']);
  const handle = await batcher.stage(wire, plan);
  await send(['of another size']);
  expect(await batcher.find(wire, plan, handle)).toEqual({ kind: 'absent' });
  const remote = await batcher.create(wire, plan, handle);
  expect(await batcher.find(wire, plan, handle)).toMatchObject({
    kind: 'candidates',
    remotes: [{ id: remote.id }],
  });
});
