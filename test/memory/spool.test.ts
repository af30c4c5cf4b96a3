import { statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const megabyte = 1024 * 1024;
const count = 10;
const ballast = 8 * megabyte;

function bigRequest(prompt: string) {
  const messages = [
    { role: 'system', content: prompt.repeat(ballast / prompt.length) },
    { role: 'user', content: prompt },
  ];
  return { ...chatRequest(prompt), body: JSON.stringify({ model: 'gpt-test', messages }) };
}

function bytesOnDisk(store: string): number {
  const sizes = ['', '-wal'].map((suffix) => statSync(store + suffix, { throwIfNoEntry: false }));
  return sizes.reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
}

it('bodies beyond the budget wait on the disk, and reach the provider as they were', async () => {
  const { simulator } = stage;
  const store = stage.newStore();
  const scope = batchify(stage.options({ store, window: '1h', maxWindow: '1h' }));
  const prompts = Array.from({ length: count }, (_, index) => `question ${index} `);
  const asked = scope.run(() =>
    Promise.all(prompts.map((prompt) => fetch(chatUrl(stage), bigRequest(prompt)))),
  );
  await until(() => scope.stats.captured === count, 'the calls');
  // 64 MB stay in memory, the last two or three wait on the disk. Of requests alone it takes far less.
  await until(() => bytesOnDisk(store) > 2 * ballast, 'the bodies on the disk');
  await scope.flush();
  const answers = await Promise.all((await asked).map((response) => response.text()));
  await scope.close();
  for (const [index, prompt] of prompts.entries()) {
    expect(answers[index]).toContain(`answer to \\"${prompt}\\"`);
  }
  const bodies = simulator.meter.executions.map(({ body }) => JSON.stringify(body));
  expect(bodies.sort()).toEqual(prompts.map((prompt) => bigRequest(prompt).body).sort());
});

it('bodies of calls that were aborted in a batch take up no budget when the batch is collected', async () => {
  const { simulator } = stage;
  simulator.reset();
  simulator.hold();
  const store = stage.newStore();
  const scope = batchify(stage.options({ store, window: '200ms' }));
  const controller = new AbortController();
  const { signal } = controller;
  // Nearly all of the budget: one more would wait on the disk.
  const prompts = Array.from({ length: 7 }, (_, index) => `question ${index} `);
  const asked = scope.run(() =>
    Promise.allSettled(
      prompts.map((prompt) => fetch(chatUrl(stage), { ...bigRequest(prompt), signal })),
    ),
  );
  await until(() => scope.stats.batches.submitted >= 1, 'the batch');
  controller.abort(new Error('enough'));
  await asked;
  simulator.release();
  await until(() => scope.stats.batches.collected === scope.stats.batches.submitted, 'the end');
  const before = bytesOnDisk(store);
  let largest = before;
  scope.on('queue:flushed', () => {
    largest = Math.max(largest, bytesOnDisk(store));
  });
  await scope.run(() => fetch(chatUrl(stage), bigRequest('one more ')));
  await scope.close();
  expect(largest - before).toBeLessThan(ballast / 2);
});
