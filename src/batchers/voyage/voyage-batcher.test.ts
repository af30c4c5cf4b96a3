import { describe, expect, it } from 'vitest';
import type { WireRequest } from '../../http/wire.ts';
import type { Remote, Route } from '../batcher.ts';
import {
  all,
  type BatcherSubject,
  callOf,
  idOf,
  openBench,
  planOf,
  routeOf,
} from '../conformance/subject.test-helper.ts';
import { VoyageBatcher } from './voyage-batcher.ts';

const batcher = new VoyageBatcher();
const subject: BatcherSubject = {
  batcher,
  path: '/embeddings',
  body: (prompt) => ({ input_type: 'document', model: 'voyage-test', input: ['more', prompt] }),
  requests: { create: '/v1/batches', upload: '/v1/files', results: /\/content$/ },
};

describe('a call for embeddings', () => {
  it('leaves its texts in the line and all else with the batch, byte for byte', () => {
    const body =
      '{"2":1, "output_dimension":1e3,"input": ["ä \\u2028", "b"] ,\n"model":"voyage-4","seed":12345678901234567890}';
    const route = routeOf(subject, body);
    const params = '{"2":1,"output_dimension":1e3,"model":"voyage-4","seed":12345678901234567890}';
    expect(route).toEqual({
      endpoint: '/v1/embeddings',
      model: 'voyage-4',
      batchHeaders: { request_params: params },
      identity: [params],
      body: '{"input":["ä \\u2028", "b"]}',
      units: 2,
    });
  });

  it('shares no batch and no answer with one for other vectors of the same texts', () => {
    const routes = ['document', 'query', 'document'].map((input_type) =>
      routeOf(subject, JSON.stringify({ model: 'm', input: 'a', input_type })),
    );
    const [one, other, same] = routes as [Route, Route, Route];
    expect(one.batchHeaders).toEqual(same.batchHeaders);
    expect(one.identity).toEqual(same.identity);
    expect(one.batchHeaders).not.toEqual(other.batchHeaders);
    expect(one.identity).not.toEqual(other.identity);
  });

  it.each([
    ['/rerank', { query: 'q', documents: ['a', 'b', 'c'] }, { top_k: 2 }, 3],
    ['/contextualizedembeddings', { inputs: [['a', 'b'], ['c']] }, { input_type: 'query' }, 3],
  ])('or at %s has its own texts in the line', (path, texts, params, units) => {
    const body = JSON.stringify({ ...params, model: 'm', ...texts });
    expect(routeOf({ ...subject, path }, body)).toMatchObject({
      endpoint: `/v1${path}`,
      body: JSON.stringify(texts),
      batchHeaders: { request_params: JSON.stringify({ ...params, model: 'm' }) },
      units,
    });
  });

  it('without texts goes out as it is', () => {
    expect(batcher.match(callOf(subject, '{"model":"m"}'))).toHaveProperty('bypass');
  });
});

describe('a batch of Voyage', () => {
  it('is created with the parameters of its calls, in its body and not in its headers', async () => {
    const { wire, ended, rows } = await openBench(subject);
    const sent: WireRequest[] = [];
    const recorded: typeof wire = {
      ...wire,
      send(request) {
        sent.push(request);
        return wire.send(request);
      },
    };
    const plan = planOf(subject, ['one', 'two']);
    const handle = await batcher.stage(wire, plan);
    const remote = await batcher.create(recorded, plan, handle);
    const [create] = sent;
    expect(create?.headers).toEqual({ 'content-type': 'application/json' });
    expect(JSON.parse(String(create?.body))).toEqual({
      input_file_id: handle.fileId,
      endpoint: '/v1/embeddings',
      completion_window: '12h',
      metadata: { name: 'conformance', batchling: plan.token },
      request_params: { input_type: 'document', model: 'voyage-test' },
    });
    const read = await rows(await ended(remote, plan, handle));
    expect(read).toHaveLength(2);
    for (const row of read) {
      const answer = 'id' in row && row.outcome.kind === 'answer' ? row.outcome.answer : undefined;
      const json = JSON.parse(answer?.body ?? '{}');
      expect(json.data).toHaveLength(2);
      expect(batcher.usage(json)).toMatchObject({ outputTokens: 0 });
      expect(batcher.usage(json)?.inputTokens).toBeGreaterThan(0);
    }
  });

  it('has the reason of a failed line beside its status', async () => {
    const { send, ended, rows } = await openBench(subject);
    const prompt = '[[status 400]]';
    const { plan, handle, remote } = await send([prompt]);
    const [row] = await rows(await ended(remote, plan, handle));
    expect(row).toMatchObject({ id: idOf(prompt), outcome: { answer: { status: 400 } } });
    const { body } = (row as { outcome: { answer: { body: string } } }).outcome.answer;
    const message = 'simulated status 400';
    expect(JSON.parse(body)).toMatchObject({ detail: message, error: { message } });
  });

  it.each([
    ['partially_completed', 'expired'],
    ['expired', 'expired'],
  ])('that ends as %s has files to read, and the rest is %s', async (finalStatus, unfinished) => {
    const { simulator, send, ended, rows } = await openBench(subject);
    simulator.faults.nextBatch({ outcome: 'expired', finalStatus });
    const { plan, handle, remote } = await send(['one', 'two']);
    const last = await ended(remote, plan, handle);
    expect(last).toMatchObject({ raw: finalStatus, unfinished });
    const kinds = (await rows(last)).map((row) => ('id' in row ? row.outcome.kind : row));
    expect(kinds.toSorted()).toEqual(['answer', 'retry']);
  });

  it('with a word that nobody knows has ended once its window has passed, and not before', async () => {
    const { simulator, wire, send, rows } = await openBench(subject);
    simulator.faults.nextBatch({ outcome: 'expired', finalStatus: 'ran_out_of_time' });
    const { handle, remote } = await send(['one', 'two']);
    await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
    const seenAfter = async (hours: number) => {
      const now = () => Date.now() + hours * 3_600_000;
      const later = { ...wire, clock: { ...wire.clock, now } };
      const [seen] = await all(batcher.poll(later, [{ id: remote.id, count: 2, handle }]));
      return seen as Remote;
    };
    expect(await seenAfter(11)).toMatchObject({ state: 'running', readable: false });
    const last = await seenAfter(13);
    expect(last).toMatchObject({ state: 'ended', raw: 'ran_out_of_time', unfinished: 'expired' });
    const kinds = (await rows(last)).map((row) => ('id' in row ? row.outcome.kind : row));
    expect(kinds.toSorted()).toEqual(['answer', 'retry']);
  });
});
