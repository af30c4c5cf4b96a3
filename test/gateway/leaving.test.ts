import { afterEach, beforeEach, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';
import { startGateway, textOf } from './start-gateway.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage({ answer: ({ prompt }) => `You asked: ${prompt}` });
});

afterEach(() => stage.close());

it('tells those who wait to come back, and nothing is lost', async () => {
  const store = stage.newStore();
  const first = await startGateway(stage, { store });
  stage.simulator.hold();
  const asked = first.ask('hello');
  await until(() => stage.simulator.countRequests('POST', '/v1/batches') === 1);
  const ended = first.kill('SIGTERM');
  const told = await asked;
  expect(told.status).toBe(503);
  expect(told.headers.get('retry-after')).toBe('5');
  expect(told.headers.get('x-should-retry')).toBe('true');
  expect(await told.json()).toMatchObject({ error: { type: 'batchling_leaving' } });
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
  stage.simulator.release();
  const second = await startGateway(stage, { store });
  expect(await textOf(await second.ask('hello'))).toBe('You asked: hello');
  expect(stage.simulator.meter.total).toBe(1);
  await second.kill();
});

it('a create in flight is recorded, so that the next gateway goes on with its batch', async () => {
  const store = stage.newStore();
  const first = await startGateway(stage, { store });
  stage.simulator.faults.add({
    method: 'POST',
    path: '/v1/batches',
    times: 1,
    action: { kind: 'delay', ms: 300 },
  });
  const asked = first.ask('hello');
  await until(() => stage.simulator.countRequests('POST', '/v1/batches') === 1);
  const ended = first.kill('SIGINT');
  expect((await asked).status).toBe(503);
  expect(await ended).toMatchObject({ code: 0 });
  const second = await startGateway(stage, { store });
  expect(await textOf(await second.ask('hello'))).toBe('You asked: hello');
  expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  await second.kill();
});
