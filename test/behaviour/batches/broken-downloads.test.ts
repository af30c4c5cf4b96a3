import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const isContent = /\/files\/[^/]+\/content$/;

it('what came before a download broke is given to its callers, however often it breaks', async () => {
  const { simulator } = stage;
  const path = isContent;
  const fault = simulator.faults.add({ path, times: 1_000, action: { kind: 'truncate' } });
  const scope = batchify(stage.options());
  const prompts = Array.from({ length: 8 }, (_, index) => `question ${index}`);
  const asked = scope.run(() =>
    Promise.all(prompts.map((prompt) => fetch(chatUrl(stage), chatRequest(prompt)))),
  );
  await until(() => scope.stats.answered >= 3, 'the answers of the first half');
  expect(scope.stats.answered).toBeLessThan(8);
  fault.remove();
  const answers = await asked;
  expect(answers.map(({ status }) => status)).toEqual(prompts.map(() => 200));
  expect(simulator.meter.total).toBe(8);
  await scope.close();
});

it('large answers reach their callers while the others are still on their way', async () => {
  let letGo = () => {};
  const rest = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const proxy = await startRecordingProxy(stage.simulator.url, {
    async passBody(reply, outgoing, path) {
      let passed = 0;
      for await (const chunk of reply) {
        passed += chunk.length;
        if (isContent.test(path) && passed > 3_000_000) await rest;
        outgoing.write(chunk);
      }
      outgoing.end();
    },
  });
  const base = `${proxy.url}/openai/v1`;
  const scope = batchify(stage.options({ hosts: { [base]: 'openai' } }));
  // Each answer has about 600 KB.
  const inputs = Array.from({ length: 10 }, (_, index) => `number ${index}`);
  const embed = (input: string) =>
    fetch(`${base}/embeddings`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-key', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'text-embedding-3-large', input, dimensions: 30_000 }),
    });
  const asked = scope.run(() => Promise.all(inputs.map(embed)));
  await until(() => scope.stats.answered >= 2, 'the first answers');
  expect(scope.stats.answered).toBeLessThan(10);
  letGo();
  const answers = await asked;
  expect(answers.map(({ status }) => status)).toEqual(inputs.map(() => 200));
  await scope.close();
  await proxy.close();
});
