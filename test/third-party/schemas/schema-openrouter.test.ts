import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type BatchScript, type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { readDocument } from '../../schemas/document.ts';
import { createReferee } from '../../schemas/referee.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { until } from '../../support/until.ts';

const mount = '/openrouter/api/beta';
const referee = createReferee(readDocument('openrouter'), mount);

describe('the traffic of OpenRouter, by what its own client demands', () => {
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
    const root = `${proxy.url}/openrouter/api`;
    const hosts = { [`${root}/v1`]: 'openrouter' } as const;
    const poll = '5ms';
    const scope = batchify({ store: ':memory:', hosts, window: '10ms', poll, bypass: 'error' });
    const given = { apiKey: 'key', maxRetries: 0, fetch: scope.fetch };
    const openai = new OpenAI({ ...given, baseURL: `${root}/v1` });
    const anthropic = new Anthropic({ ...given, baseURL: root });
    const messages = [{ role: 'user' as const, content: 'hello' }];
    const ask = (model: string) => openai.chat.completions.create({ model, messages });
    return { scope, openai, anthropic, messages, ask };
  }

  /** What is wrong with the batch traffic, and which operations were spoken: a judge of nothing finds no fault. */
  async function judged() {
    const exchanges = proxy.requests.filter(({ path }) => path.startsWith(mount));
    const faults = (await Promise.all(exchanges.map((one) => referee.judge(one)))).flat();
    const names = exchanges.map(({ method, path, reply }) => {
      const [short = ''] = path
        .slice(mount.length)
        .replace(/batch-[^/?]*/, '<id>')
        .split('?');
      return `${method} ${short} ${reply?.status ?? 'lost'}`;
    });
    return { faults, spoken: [...new Set(names)].sort() };
  }

  it('is right for all four shapes of calls, and for the list', async () => {
    const { scope, openai, anthropic, messages, ask } = newScope();
    simulator.hold();
    const asked = Promise.all([
      ask('openai/gpt-4o'),
      openai.responses.create({ model: 'openai/gpt-4o', input: 'hello' }),
      openai.embeddings.create({ model: 'openai/text-embedding-3-small', input: ['a', 'b'] }),
      anthropic.messages.create({ model: 'anthropic/claude-opus-5', max_tokens: 9, messages }),
    ]);
    await until(() => simulator.batches().length === 4, 'four batches');
    simulator.release();
    const [chat, response, vectors, message] = await asked;
    expect(chat.choices[0]?.message.content).toContain('hello');
    expect(response.output_text).toContain('hello');
    expect(vectors.data).toHaveLength(2);
    expect(message.content).toMatchObject([{ type: 'text' }]);
    await scope.close();
    const { faults, spoken } = await judged();
    expect(faults).toEqual([]);
    expect(spoken).toEqual(['GET /batches 200', 'GET /batches/<id> 200', 'POST /batches 202']);
  });

  const endings: BatchScript[] = [
    { outcome: 'failed', errors: [{ code: 'x', message: 'No such model.' }] },
    { outcome: 'expired' },
    { outcome: 'cancelled' },
  ];
  it.each(endings)('is right for a batch that ends as $outcome', async (script) => {
    const { scope, ask } = newScope();
    simulator.faults.nextBatch(script);
    await Promise.allSettled([ask('openai/gpt-4o'), ask('openai/gpt-4o')]);
    await scope.close();
    expect((await judged()).faults).toEqual([]);
    expect(proxy.requests.map(({ reply }) => reply?.body ?? '')).toContainEqual(
      expect.stringContaining(`"status":"${script.outcome}"`),
    );
  });

  it('is right for requests that fail, and for a create that is refused', async () => {
    const { scope, openai, ask } = newScope();
    const content = '[[status 404]]';
    const failing = openai.chat.completions.create({
      model: 'openai/gpt-4o',
      messages: [{ role: 'user', content }],
    });
    await expect(failing).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    simulator.configure({ models: ['another/model'] });
    await expect(ask('openai/gpt-4o')).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await scope.close();
    const { faults, spoken } = await judged();
    expect(faults).toEqual([]);
    expect(spoken).toContain('POST /batches 400');
  });

  it('is found to be wrong where it is', () => {
    const create = { endpoint: '/v1/chat/completions', model: 'm', requests: [] };
    expect(referee.bodyFaults('POST', '/batches', create)).not.toEqual([]);
    const line = { custom_id: 'a', body: {} };
    const fine = { ...create, requests: [line] };
    expect(referee.bodyFaults('POST', '/batches', fine)).toEqual([]);
    const more = { ...fine, metadata: {} };
    expect(referee.bodyFaults('POST', '/batches', more)).not.toEqual([]);
  });
});
