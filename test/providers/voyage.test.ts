import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { startRecordingProxy } from '../support/servers/recording-proxy.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let base: string;

beforeAll(async () => {
  stage = await openStage();
  base = stage.simulator.baseUrl('voyage');
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({ hosts: { [base]: 'voyage' }, bypass: 'error', ...given });
}

/** As Voyage's documentation asks for embeddings. */
async function embed(input: unknown, more: object = {}, path = '/embeddings') {
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer pa-test', 'content-type': 'application/json' },
    body: JSON.stringify({ input, model: 'voyage-4', ...more }),
  });
  const json = (await response.json()) as { data: unknown[]; detail?: string };
  return { status: response.status, json };
}

describe('embeddings through the batches of Voyage', () => {
  it('share a batch where their parameters are the same, and are answered each', async () => {
    const answers = await batchify(
      () =>
        Promise.all([
          embed(['a', 'b'], { input_type: 'document' }),
          embed('c', { input_type: 'document' }),
          embed('c', { input_type: 'query' }),
        ]),
      options(),
    );
    expect(answers.map(({ json }) => json.data.length)).toEqual([2, 1, 1]);
    const sizes = stage.simulator.batches().map(({ requests }) => requests);
    expect(sizes.toSorted()).toEqual([1, 2]);
    expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 0 });
  });

  it('that are too many for one batch are sent in halves', async () => {
    stage.simulator.configure({ limits: { voyage: { embeddingInputsPerBatch: 5 } } });
    const lists = [
      ['a', 'b', 'c'],
      ['d', 'e', 'f'],
    ];
    const answers = await batchify(() => Promise.all(lists.map((list) => embed(list))), options());
    expect(answers.map(({ json }) => json.data.length)).toEqual([3, 3]);
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('that fail are told as Voyage and the SDK of OpenAI tell it', async () => {
    const client = new OpenAI({ apiKey: 'pa-test', baseURL: base, maxRetries: 0 });
    const prompt = '[[status 400]]';
    const [bare, ofSdk] = await batchify(
      () =>
        Promise.all([
          embed(prompt),
          client.embeddings.create({ model: 'voyage-4', input: prompt }).catch((error) => error),
        ]),
      options(),
    );
    expect(bare).toMatchObject({ status: 400, json: { detail: 'simulated status 400' } });
    expect(ofSdk).toBeInstanceOf(OpenAI.BadRequestError);
    expect(ofSdk.message).toContain('simulated status 400');
  });

  it('whose create was lost are found by their file, and nothing runs twice', async () => {
    stage.simulator.configure({ foreignBatches: true });
    const action = { kind: 'lost' } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
    const answers = await batchify(
      () => Promise.all(['a', 'b'].map((text) => embed(text))),
      options(),
    );
    expect(answers).toHaveLength(2);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('that were not run in time are sent again, the others are kept', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const texts = ['a', 'b', 'c', 'd'];
    const answers = await batchify(() => Promise.all(texts.map((text) => embed(text))), options());
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 4 }, { requests: 2 }]);
  });
});

it('a call in the realtime lane says itself what a create says for its batch', async () => {
  const proxy = await startRecordingProxy(stage.simulator.url);
  const own = `${proxy.url}/voyage/v1`;
  const body = '{"input":["a"],"model":"voyage-4","input_type":"query"}';
  const headers = { authorization: 'Bearer pa-test', 'content-type': 'application/json' };
  const response = await batchify(
    () => fetch(`${own}/embeddings`, { method: 'POST', headers, body }),
    options({ hosts: { [own]: 'voyage' }, lane: 'realtime' }),
  );
  await proxy.close();
  expect(response.status).toBe(200);
  expect(proxy.requests.map(({ path }) => path)).toEqual(['/voyage/v1/embeddings']);
  expect(JSON.parse(proxy.requests[0]?.body ?? '')).toEqual(JSON.parse(body));
});

describe('rankings and contextualized embeddings', () => {
  const documents = ['one', 'two', 'three'];
  const inputs = [['a', 'b'], ['c']];
  const rank = (query: string, more = {}) =>
    embed(undefined, { query, documents, top_k: 3, ...more }, '/rerank');

  it('are batched with those of the same parameters, and answered each in their shape', async () => {
    const [first, , , context] = await batchify(
      () =>
        Promise.all([
          rank('who?'),
          rank('where?'),
          rank('who?', { top_k: 1 }),
          embed(undefined, { inputs }, '/contextualizedembeddings'),
        ]),
      options(),
    );
    expect(first?.json.data).toHaveLength(3);
    expect(first?.json.data[0]).toMatchObject({ index: 0, relevance_score: expect.any(Number) });
    expect(context?.json.data).toMatchObject([{ data: [{}, {}] }, { data: [{}] }]);
    const sizes = stage.simulator.batches().map(({ requests }) => requests);
    expect(sizes.toSorted()).toEqual([1, 1, 2]);
    expect(stage.simulator.meter).toMatchObject({ batched: 4, realtime: 0 });
  });

  it('go out whole in the realtime lane', async () => {
    const answers = await batchify(
      () => Promise.all([rank('who?'), embed(undefined, { inputs }, '/contextualizedembeddings')]),
      options({ lane: 'realtime' }),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 2 });
  });
});
