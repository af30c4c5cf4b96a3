import { GoogleGenAI } from '@google/genai';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { batchify, type DryRunExit } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

const prompts = (count: number) => Array.from({ length: count }, (_, at) => `Question ${at}`);

it('a dry run says how many requests would go ahead, prices them, and sends nothing', async () => {
  const client = stage.openai();
  const schema = { type: 'object', properties: {} };
  const asked = (canary: 'call' | 'batch' | false) =>
    batchify(
      () =>
        Promise.all([
          ...prompts(20).map((one) => ask(client, one, 'gpt-4o-mini')),
          ...prompts(5).map((content) =>
            client.chat.completions.create({
              model: 'gpt-4o-mini',
              messages: [{ role: 'user', content }],
              response_format: { type: 'json_schema', json_schema: { name: 'A', schema } },
            }),
          ),
        ]),
      stage.options({ dryRun: true, display: 'none', canary }),
    ).catch((error: unknown) => (error as DryRunExit).summary.queues[0]);
  const [without, batch, call] = [
    await asked(false),
    await asked('batch'),
    await asked('call'),
  ] as {
    canaries?: number;
    dollars: { batch: { most: number } };
  }[];
  expect([without?.canaries, batch?.canaries, call?.canaries]).toEqual([undefined, 2, 2]);
  expect(batch?.dollars).toEqual(without?.dollars);
  expect(call?.dollars.batch.most).toBeGreaterThan(batch?.dollars.batch.most ?? 0);
  expect(stage.simulator.requests).toEqual([]);
});

it('a call that needs several requests has a batch of one as its canary, and one answer', async () => {
  const baseUrl = stage.simulator.baseUrl('google');
  const client = new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl } });
  const options = stage.options({ canary: 'call', hosts: { [baseUrl]: 'google' } });
  const { embeddings = [] } = await soon(
    batchify(
      () => client.models.embedContent({ model: 'gemini-embedding-001', contents: prompts(6) }),
      options,
    ),
  );
  expect(embeddings).toHaveLength(6);
  expect(stage.simulator.batches().map(({ total }) => total)).toEqual([1, 5]);
});

it('a server that has no batches gets its canary and the others as ordinary calls', async () => {
  const path = /\/(files|batches)$/;
  const action = { kind: 'status', status: 404 } as const;
  stage.simulator.faults.add({ method: 'POST', path, times: 1_000, action });
  const client = stage.openai({ maxRetries: 0 });
  const answers = await soon(
    batchify(
      () => Promise.all(prompts(8).map((one) => ask(client, one))),
      stage.options({ canary: 'batch' }),
    ),
  );
  expect(answers).toHaveLength(8);
  expect(stage.simulator.meter.realtime).toBe(8);
});

it('bodies that are spooled to the ledger are told apart all the same', async () => {
  const client = stage.openai({ maxRetries: 0 });
  const long = 'x'.repeat(1_000_000);
  const answers = await soon(
    batchify(
      () => Promise.all(prompts(66).map((one) => ask(client, `${one} ${long}`))),
      stage.options({ canary: 'batch', window: '500ms' }),
    ),
  );
  expect(answers).toHaveLength(66);
  expect(stage.simulator.batches()[0]?.total).toBe(1);
});

it('two scopes with other canaries do not share a queue', async () => {
  const client = stage.openai({ maxRetries: 0 });
  const store = stage.newStore();
  const run = (canary: 'batch' | false, prompt: string) =>
    batchify(
      () => Promise.all([1, 2].map((at) => ask(client, `${prompt} ${at}`))),
      stage.options({ canary, store }),
    );
  await soon(Promise.all([run('batch', 'checked'), run(false, 'unchecked')]));
  expect(
    stage.simulator
      .batches()
      .map(({ total }) => total)
      .sort(),
  ).toEqual([1, 1, 2]);
});

it('a schema of its own in each request does not make all of them canaries', async () => {
  const client = stage.openai({ maxRetries: 0 });
  const answers = await soon(
    batchify(
      () =>
        Promise.all(
          prompts(60).map((content) =>
            client.chat.completions.create({
              model: 'gpt-test',
              messages: [{ role: 'user', content }],
              response_format: {
                type: 'json_schema',
                json_schema: { name: 'A', schema: { type: 'object', description: content } },
              },
            }),
          ),
        ),
      stage.options({ canary: 'call', window: '500ms' }),
    ),
  );
  expect(answers).toHaveLength(60);
  expect(stage.simulator.meter.realtime).toBe(20);
});
