import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { chatRequest } from '../../support/ask.ts';
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

const cancelRequest = { method: 'POST', path: /\/cancel$/ };
const faults: [string, FaultAction][] = [
  ['500', { kind: 'status', status: 500 }],
  ['429', { kind: 'status', status: 429 }],
  ['a reset', { kind: 'reset' }],
];

/** A batch under way whose scope can be cancelled. Seconds pass in milliseconds. */
async function sent() {
  const clock = fastClock({ epoch: Date.now(), speed: 100 });
  stage.simulator.hold();
  const scope = batchify(stage.options({ clock, poll: '2s' }));
  const asked = scope.run(() => fetch(chatUrl(stage), chatRequest('unwanted')));
  await until(() => scope.stats.batches.submitted === 1, 'the batch');
  return { scope, asked };
}

async function nothingRuns(): Promise<void> {
  stage.simulator.release();
  await until(() => stage.simulator.batches()[0]?.ending === 'cancelled', 'the cancelled batch');
  expect(stage.simulator.meter.total).toBe(0);
}

it.each(faults)('a cancel that meets %s twice is tried again', async (_, action) => {
  stage.simulator.faults.add({ ...cancelRequest, times: 2, action });
  const { scope, asked } = await sent();
  await soon(scope.cancel());
  expect((await soon(asked)).status).toBe(499);
  expect(stage.simulator.countRequests('POST', cancelRequest.path)).toBe(3);
  await nothingRuns();
  await scope.close();
});

it('callers are told at once, however long the provider does not take the cancel', async () => {
  const times = Number.POSITIVE_INFINITY;
  const action = { kind: 'status', status: 500 } as const;
  const fault = stage.simulator.faults.add({ ...cancelRequest, times, action });
  const { scope, asked } = await sent();
  const cancelled = scope.cancel();
  expect((await soon(asked)).status).toBe(499);
  await until(() => fault.hits > 3, 'some tries');
  fault.remove();
  await soon(cancelled);
  await nothingRuns();
  await scope.close();
});

it('what the provider refuses to cancel is asked for again at the next polls', async () => {
  const action = { kind: 'status', status: 403 } as const;
  const fault = stage.simulator.faults.add({ ...cancelRequest, times: 2, action });
  const { scope, asked } = await sent();
  await soon(scope.cancel());
  expect((await soon(asked)).status).toBe(499);
  await until(() => fault.hits === 2, 'the refusals');
  await until(() => stage.simulator.countRequests('POST', cancelRequest.path) === 3, 'the cancel');
  await nothingRuns();
  await scope.close();
});
