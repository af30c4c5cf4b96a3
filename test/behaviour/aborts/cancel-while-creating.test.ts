import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { resultOf } from '../../support/processes/run-program.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const create = { method: 'POST', path: '/v1/batches' };

const creates = () => stage.simulator.countRequests('POST', /\/batches$/);
const cancels = () => stage.simulator.countRequests('POST', /\/cancel$/);

/** A scope whose create is on its way and meets this. */
async function creating(action: FaultAction, given: BatchifyOptions = {}) {
  stage.simulator.hold();
  stage.simulator.faults.add({ ...create, action });
  const scope = batchify(stage.options(given));
  const asked = scope.run(() => fetch(chatUrl(stage), chatRequest('unwanted')));
  await until(() => creates() === 1, 'the create');
  return { scope, asked };
}

it('cancel() waits for a create that is on its way, and cancels what comes of it', async () => {
  const { scope, asked } = await creating({ kind: 'delay', ms: 300 });
  const cancelled = scope.cancel();
  expect((await soon(asked)).status).toBe(499);
  expect(cancels()).toBe(0);
  await soon(cancelled);
  expect(cancels()).toBe(1);
  stage.simulator.release();
  await soon(scope.close());
  expect(stage.simulator.meter.total).toBe(0);
});

it('cancel() waits until a create without an answer is found', async () => {
  const clock = fastClock({ epoch: Date.now(), speed: 20 });
  const { scope, asked } = await creating({ kind: 'lost' }, { clock, poll: '1h' });
  await soon(scope.cancel());
  expect((await asked).status).toBe(499);
  expect(cancels()).toBe(1);
  stage.simulator.release();
  await soon(scope.close());
  expect(stage.simulator.meter.total).toBe(0);
});

it('cancel() settles when it turns out that nothing was created, and nothing is', async () => {
  const clock = fastClock({ epoch: Date.now(), speed: 20 });
  const { scope, asked } = await creating({ kind: 'reset' }, { clock, poll: '1h' });
  await soon(scope.cancel());
  expect((await asked).status).toBe(499);
  await soon(scope.close());
  expect(creates()).toBe(1);
  expect(cancels()).toBe(0);
});

it('cancel() does not wait for an upload: what is not created yet never is', async () => {
  const action = { kind: 'hang', ms: 60_000 } as const;
  const upload = { method: 'POST', path: '/v1/files', action };
  const fault = stage.simulator.faults.add(upload);
  const scope = batchify(stage.options());
  const asked = scope.run(() => fetch(chatUrl(stage), chatRequest('unwanted')));
  await until(() => fault.hits === 1, 'the upload');
  await soon(scope.cancel(), 20_000);
  expect((await asked).status).toBe(499);
  await soon(scope.close(), 20_000);
  expect(creates()).toBe(0);
});

it('cancel() settles when the engine goes down, whatever became of the create', async () => {
  const { scope, asked } = await creating({ kind: 'hang', ms: 30_000 });
  const cancelled = scope.cancel();
  expect((await soon(asked)).status).toBe(499);
  await soon(Promise.all([cancelled, scope.close()]), 20_000);
});

it('cancel() settles after a quarter of an hour at the latest', async () => {
  const clock = fastClock({ epoch: Date.now(), speed: 10_000 });
  const { scope, asked } = await creating({ kind: 'hang', ms: 30_000 }, { clock });
  await soon(scope.cancel(), 20_000);
  expect((await asked).status).toBe(499);
  await soon(scope.close(), 20_000);
});

it('a program that only waits for cancel() stays up until the provider has taken it', async () => {
  stage.simulator.hold();
  stage.simulator.faults.add({ ...create, action: { kind: 'lost' } });
  const baseUrl = stage.simulator.baseUrl('openai');
  const input = { baseUrl, store: stage.newStore(), request: chatRequest('unwanted') };
  expect(await resultOf('cancel-and-leave', input)).toEqual({ status: 499 });
  expect(cancels()).toBe(1);
});
