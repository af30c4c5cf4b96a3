import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it('a call that its user aborts while it waits for a slot is never sent', async () => {
  const { simulator } = stage;
  simulator.hold();
  const scope = batchify(stage.options({ maxInFlight: 1 }));
  const ask = (prompt: string, init: RequestInit = {}) =>
    scope.run(() => fetch(chatUrl(stage), { ...chatRequest(prompt), ...init }));
  const first = ask('the only one under way');
  await until(() => simulator.batches().length === 1, 'the first batch');
  const flushed: number[] = [];
  scope.on('queue:flushed', ({ count }) => flushed.push(count));
  const controller = new AbortController();
  const aborted = ask('not wanted any more', { signal: controller.signal });
  const wanted = ask('still wanted');
  await until(() => flushed.length > 0, 'the second flush');
  controller.abort('enough');
  await expect(aborted).rejects.toBe('enough');
  simulator.release();
  const answers = await Promise.all([first, wanted]);
  await scope.close();
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const prompts = simulator.meter.executions.map(({ body }) => JSON.stringify(body));
  expect(prompts.filter((prompt) => prompt.includes('not wanted'))).toEqual([]);
  expect(simulator.meter.total).toBe(2);
});
