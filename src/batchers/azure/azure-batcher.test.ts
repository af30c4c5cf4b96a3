import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { Wire } from '../../http/wire.ts';
import {
  all,
  type Bench,
  failureOf,
  openBench,
  planOf,
} from '../conformance/subject.test-helper.ts';
import { RefusedError } from '../shared/refused-error.ts';
import { earlyAzure, newerAzure, olderAzure } from './azure-subjects.test-helper.ts';

const { batcher } = newerAzure;
const plan = planOf(newerAzure, ['one']);
const fileDay = 86_400;

async function fileOf({ wire }: Pick<Bench, 'wire'>, id: string | undefined) {
  const reply = await wire.send({ method: 'GET', path: `/files/${id}` });
  return (await reply.json()) as Record<string, unknown>;
}

/** The wire, except that time passes with every look at a file. */
function withHastyClock(wire: Wire): Wire & { readonly pauses: number[] } {
  const clock = new ManualClock();
  const pauses: number[] = [];
  const setTimeout = (callback: () => void, delay: number) => {
    pauses.push(delay);
    const timer = clock.setTimeout(callback, delay);
    queueMicrotask(() => clock.advance(delay));
    return timer;
  };
  const hasty = {
    now: () => clock.now(),
    setTimeout,
    clearTimeout: (timer: unknown) => clock.clearTimeout(timer),
  };
  return { ...wire, clock: hasty, pauses };
}

describe('an uploaded file', () => {
  it.each([
    ['the newer API', newerAzure, 14 * fileDay],
    ['the older API', olderAzure, 14 * fileDay],
    ['early versions of it', earlyAzure, undefined],
  ])('lives for 14 days where %s knows an end', async (_what, subject, lifetime) => {
    const { wire } = await openBench(subject);
    const { fileId } = await batcher.stage(wire, planOf(subject, ['one']));
    const { expires_at: end, created_at: created } = await fileOf({ wire }, fileId);
    expect(end).toBe(lifetime === undefined ? null : Number(created) + lifetime);
  });

  it('is waited for until it is processed, and no batch is made of it before', async () => {
    const { wire, simulator } = await openBench(newerAzure, { fileProcessing: 3_600_000 });
    const hasty = withHastyClock(wire);
    const looks = () => simulator.countRequests('GET', /^\/openai\/v1\/files\/[^/]+$/);
    const send: Wire['send'] = (request) => {
      if (looks() === 4) simulator.configure({ fileProcessing: 0 });
      return hasty.send(request);
    };
    const handle = await batcher.stage({ ...hasty, send }, plan);
    expect(looks()).toBe(5);
    expect(hasty.pauses).toEqual([1_000, 2_000, 4_000, 5_000]);
    expect((await batcher.create(wire, plan, handle)).state).toBe('queued');
  });

  it('that is not processed in ten minutes is tried again later', async () => {
    const { wire } = await openBench(newerAzure, { fileProcessing: 3_600_000 });
    const error = await failureOf(batcher.stage(withHastyClock(wire), plan));
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ failure: { meaning: 'busy', next: 'later' } });
    expect(String(error)).toContain('still pending');
  });

  it('that is unknown or cannot be asked for at first is waited for all the same', async () => {
    const { wire, simulator } = await openBench(newerAzure);
    for (const status of [404, 503, 429]) {
      simulator.faults.add({ method: 'GET', path: /files\/./, action: { kind: 'status', status } });
    }
    const hasty = withHastyClock(wire);
    expect(await batcher.stage(hasty, plan)).toHaveProperty('fileId');
    expect(hasty.pauses).toHaveLength(3);
  });

  it('that Azure does not take is a refusal with its reason, without the key', async () => {
    const { wire, simulator } = await openBench(newerAzure);
    const body = {
      id: 'file-1',
      status: 'Error',
      status_details: 'bad line of sk-conformance-51c09e77',
    };
    simulator.faults.add({ path: /files\/./, action: { kind: 'status', status: 200, body } });
    const error = await failureOf(batcher.stage(wire, plan));
    expect(error).toMatchObject({
      failure: { meaning: 'refused', next: 'fail', answer: { status: 400 } },
      message: expect.stringContaining('(error): bad line of [redacted].'),
    });
  });

  it('that finds no room among files without an end waits for it', async () => {
    const { wire } = await openBench(earlyAzure, { limits: { azure: { files: 1 } } });
    const early = planOf(earlyAzure, ['one']);
    const first = await batcher.stage(wire, early);
    expect(await failureOf(batcher.stage(wire, early))).toMatchObject({
      failure: { meaning: 'full', next: 'later', within: fileDay * 1000 },
    });
    await batcher.cleanup(wire, first);
    expect(await batcher.stage(wire, early)).toHaveProperty('fileId');
  });

  it('finds more room if it has an end', async () => {
    const { wire } = await openBench(newerAzure, { limits: { azure: { files: 1 } } });
    for (let at = 0; at < 20; at += 1) await batcher.stage(wire, plan);
    expect(await failureOf(batcher.stage(wire, plan))).toMatchObject({
      failure: { meaning: 'full' },
    });
  });
});

describe('a batch', () => {
  it.each([
    ['the newer API', newerAzure, '/responses'],
    ['the older API', olderAzure, '/responses'],
  ])('of responses is created as chat completions at %s', async (_what, subject, path) => {
    const responses = { ...subject, path, body: () => ({ model: 'gpt-online', input: 'hi' }) };
    const bench = await openBench(responses);
    const { plan: sent, handle, remote } = await bench.send(['one']);
    const rows = await bench.rows(await bench.ended(remote, sent, handle));
    expect(rows).toMatchObject([{ outcome: { answer: { json: { object: 'response' } } } }]);
    expect(bench.simulator.meter.executions).toMatchObject([
      { endpoint: '/v1/responses', model: 'gpt-batch' },
    ]);
  });

  it('of the older API is asked for with its version, by whoever goes on with it', async () => {
    const bench = await openBench(olderAzure);
    const { plan: sent, handle, remote } = await bench.send(['one']);
    await bench.rows(await bench.ended(remote, sent, handle));
    await batcher.find(bench.wire, sent, handle);
    await batcher.sharesAccount(bench.wire, handle);
    await failureOf(batcher.cancel(bench.wire, remote));
    await batcher.cleanup(bench.wire, handle);
    const { requests } = bench.simulator;
    expect(requests.length).toBeGreaterThan(8);
    for (const { path, query } of requests) {
      expect(path).toMatch(/^\/openai\/(files|batches)(\/|$)/);
      expect(new URLSearchParams(query).get('api-version')).toBe('2025-04-01-preview');
    }
  });

  it('without failures has an error file of no bytes, which is no trouble', async () => {
    const bench = await openBench(newerAzure);
    const { plan: sent, handle, remote } = await bench.send(['one', 'two']);
    const last = await bench.ended(remote, sent, handle);
    expect(Object.keys(last.sources).sort()).toEqual(['errors', 'output']);
    const rows = await bench.rows(last);
    expect(rows.filter((row) => 'unreadable' in row)).toEqual([]);
    expect(rows).toHaveLength(2);
  });

  it('whose deployment is none for batches fails as a whole, although one line is named', async () => {
    const bench = await openBench(newerAzure);
    const message = 'The SKU of the deployment must be globalbatch.';
    const errors = [{ code: 'invalid_request', message, line: 1 }];
    bench.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const { plan: sent, handle, remote } = await bench.send(['one', 'two']);
    const { failure } = await bench.ended(remote, sent, handle);
    expect(failure).toMatchObject({ next: 'fail', message });
    expect(failure?.bad).toBeUndefined();
  });

  it('with a bad line fails for that line only', async () => {
    const bench = await openBench(newerAzure);
    const { plan: sent, handle, remote } = await bench.send(['one', '[[invalid]]']);
    const { failure } = await bench.ended(remote, sent, handle);
    expect(failure).toMatchObject({ next: 'isolate', bad: [{ line: 2 }] });
  });

  it('is found in a list with links, and one that never ends proves nothing', async () => {
    const bench = await openBench(earlyAzure);
    const { handle, plan: sent, remote } = await bench.send(['one']);
    const one = { id: 'batch_x', status: 'Completed', created_at: '2026-01-01T00:00:00Z' };
    const body = { value: [one], nextLink: 'https://elsewhere.example/next' };
    bench.strike('list', { kind: 'status', status: 200, body }, { times: 2 });
    expect(String(await failureOf(batcher.find(bench.wire, sent, handle)))).toContain('to an end');
    expect(await batcher.find(bench.wire, sent, handle)).toMatchObject({
      kind: 'exact',
      remotes: [{ id: remote.id }],
    });
  });

  it('of an early version is understood in its capitals, dates and missing counts', async () => {
    const bench = await openBench(earlyAzure);
    bench.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const { plan: sent, handle, remote } = await bench.send(['one']);
    expect(remote).toMatchObject({ raw: 'Validating', state: 'queued' });
    await batcher.cancel(bench.wire, remote);
    const polled = { id: remote.id, count: sent.count, handle };
    const [seen] = await all(batcher.poll(bench.wire, [polled]));
    expect(seen?.raw).toMatch(/^Cancell(ing|ed)$/);
  });
});
