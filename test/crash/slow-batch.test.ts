import OpenAI from 'openai';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchify, type Clock } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { askToTheEnd, type Heard, startAsker } from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { openScene, type Scene } from './parts/scene.ts';

const hour = 3_600_000;
const usual = ['one', 'two', 'three'];
const late = ['red', 'green', 'blue', 'white'];
/** The clock of a program that ran three hours ago. */
const threeHoursAgo: Clock = {
  now: () => Date.now() - 3 * hour,
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

let scene: Scene;

/** A program has left a batch at its provider three hours ago. Half of it is done, and nothing more will be. */
beforeEach(async () => {
  // Cancelling takes long enough to be killed meanwhile.
  const speed = { validating: 2, running: 10, finalizing: 2, cancelling: 500 };
  scene = await openScene('openai', { speed }, { poll: 10, window: 20 }, 1);
  const { options, baseURL, apiKey } = scene.input([]);
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null, maxRetries: 0 });
  const { simulator } = scene;
  await batchify(
    async () => {
      for (const prompt of usual) await ask(client, prompt);
    },
    { ...options, clock: threeHoursAgo },
  );
  const half = { outcome: 'expired', completedFraction: 0.5, stuckIn: 'in_progress' } as const;
  simulator.faults.nextBatch(half);
  const leaving = new AbortController();
  const scope = batchify({ ...options, clock: threeHoursAgo, signal: leaving.signal });
  const asked = scope.run(() => Promise.allSettled(late.map((prompt) => ask(client, prompt))));
  await until(() => simulator.meter.total === usual.length + 2, 'half of the batch');
  leaving.abort();
  await asked;
  await scope.close();
});
afterEach(() => scene.close());

const cancels = () => scene.simulator.countRequests('POST', /cancel$/);

function expectPaidOnce(heard: readonly Heard[]): void {
  for (const [at, { text }] of heard.entries()) expect(text).toContain(`answer to "${late[at]}"`);
  const { meter } = scene.simulator;
  expect(meter.executedTwice()).toEqual([]);
  expect(meter.total).toBe(usual.length + late.length);
}

const impatient = () => scene.input(late, { options: { onSlow: 'realtime' } });

it('a slow batch of an earlier run is moved, and the answers are in the ledger', async () => {
  const { simulator } = scene;
  const { heard } = await askToTheEnd(impatient());
  expectPaidOnce(heard);
  expect(cancels()).toBe(1);
  expect(simulator.meter).toMatchObject({ batched: usual.length + 2, realtime: 2 });
  const { heard: again } = await askToTheEnd(impatient());
  expectPaidOnce(again);
});

it('killed between the cancel and the rest, the next run sends the rest once', async () => {
  const { simulator } = scene;
  const killed = await startAsker(impatient());
  await until(() => cancels() === 1, 'the cancel');
  killed.send('SIGKILL');
  expect((await killed.ended).signal).toBe('SIGKILL');
  expect(simulator.meter.realtime).toBe(0);
  const { heard } = await askToTheEnd(impatient());
  expectPaidOnce(heard);
  expect(cancels()).toBe(1);
});
