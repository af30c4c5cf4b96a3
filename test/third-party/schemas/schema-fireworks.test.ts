import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type BatchScript, type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { readDocument } from '../../schemas/document.ts';
import { createReferee } from '../../schemas/referee.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { until } from '../../support/until.ts';

const mount = '/fireworks/v1';
const referee = createReferee(readDocument('fireworks'), mount);
const model = 'accounts/fireworks/models/gpt-oss-20b';

describe('the traffic of Fireworks, by what its own client demands', () => {
  let simulator: Simulator;
  let proxy: RecordingProxy;

  beforeAll(async () => {
    const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
    simulator = await startSimulator({ speed });
  });
  beforeEach(async () => {
    simulator.reset();
    proxy = await startRecordingProxy(simulator.url);
    return () => proxy.close();
  });
  afterAll(() => simulator.close());

  function newScope() {
    const baseURL = `${proxy.url}/fireworks/inference/v1`;
    const hosts = { [baseURL]: 'fireworks' } as const;
    const poll = '5ms';
    const scope = batchify({ store: ':memory:', hosts, window: '10ms', poll, bypass: 'error' });
    const openai = new OpenAI({ apiKey: 'key', maxRetries: 0, fetch: scope.fetch, baseURL });
    const ask = (content: string) =>
      openai.chat.completions.create({ model, messages: [{ role: 'user', content }] });
    return { scope, ask };
  }

  /** What is wrong with the batch traffic, and which operations were spoken: a judge of nothing finds no fault. */
  async function judged() {
    const exchanges = proxy.requests.filter(({ path }) => path.startsWith(mount));
    const faults = (await Promise.all(exchanges.map((one) => referee.judge(one)))).flat();
    const names = exchanges.map(({ method, path, reply }) => {
      const [short = ''] = path.slice(mount.length).split('?');
      const name = short.replace(/(datasets|batchInferenceJobs)\/[^:/]+/, '$1/<id>');
      return `${method} ${name.replace('/accounts/simulator', '')} ${reply?.status ?? 'lost'}`;
    });
    return { faults, spoken: [...new Set(names)].sort() };
  }

  it('is right from the dataset to the results', async () => {
    const { scope, ask } = newScope();
    const [one, two] = await Promise.allSettled([ask('one'), ask('[[status 400]]')]);
    await scope.close();
    // What is left at the provider is deleted after the scope is closed.
    const deleted = () => proxy.requests.filter((one) => one.method === 'DELETE' && one.reply);
    await until(() => deleted().length === 2, 'the deletion of both datasets');
    expect([one.status, two.status]).toEqual(['fulfilled', 'rejected']);
    const { faults, spoken } = await judged();
    expect(faults).toEqual([]);
    expect(spoken).toEqual([
      'DELETE /datasets/<id> 200',
      'GET /accounts 200',
      'GET /batchInferenceJobs/<id> 200',
      'GET /datasets/<id> 200',
      'GET /datasets/<id>:getDownloadEndpoint 200',
      'POST /batchInferenceJobs 200',
      'POST /datasets 200',
      'POST /datasets/<id>:upload 200',
    ]);
  });

  const endings: BatchScript[] = [
    { outcome: 'failed', errors: [{ code: 'x', message: 'The model is not served.' }] },
    { outcome: 'expired' },
    { outcome: 'cancelled' },
  ];
  it.each(endings)('is right for a job that ends as $outcome', async (script) => {
    const { scope, ask } = newScope();
    simulator.faults.nextBatch(script);
    await Promise.allSettled([ask('one'), ask('two')]);
    await scope.close();
    expect((await judged()).faults).toEqual([]);
    const word = script.outcome?.toUpperCase();
    expect(proxy.requests.map(({ reply }) => reply?.body ?? '')).toContainEqual(
      expect.stringContaining(`"state":"JOB_STATE_${word}"`),
    );
  });

  it('is right for a job that is cancelled by deleting it', async () => {
    const { scope, ask } = newScope();
    simulator.hold();
    const asked = Promise.allSettled([ask('one')]);
    await until(() => simulator.batches()[0]?.phase === 'in_progress', 'the job');
    await scope.cancel();
    await asked;
    await scope.close();
    const { faults, spoken } = await judged();
    expect(faults).toEqual([]);
    expect(spoken).toContain('DELETE /batchInferenceJobs/<id> 200');
  });

  it('is found to be wrong where it is', () => {
    const path = '/accounts/a/batchInferenceJobs';
    const create = { model, inputDatasetId: 'accounts/a/datasets/d' };
    expect(referee.bodyFaults('POST', path, create)).toEqual([]);
    expect(referee.bodyFaults('POST', path, { ...create, metadata: {} })).not.toEqual([]);
    expect(referee.bodyFaults('POST', '/accounts/a/datasets', { datasetId: 'd' })).not.toEqual([]);
  });
});
