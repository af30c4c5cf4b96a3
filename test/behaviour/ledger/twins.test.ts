import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

const { clock: providerClock, skipHours } = patientClock();

beforeAll(async () => {
  stage = await openStage({ clock: providerClock });
});
afterAll(() => stage.close());

it('a create that gets through after it was sent again is cancelled and reported', async () => {
  const { simulator } = stage;
  // A hundred times faster: the looks at 1, 4 and 15 seconds are over after 150 milliseconds.
  const clock = fastClock({ epoch: Date.now(), speed: 100 });
  simulator.hold();
  simulator.faults.add({
    method: 'POST',
    path: '/v1/batches',
    action: { kind: 'late', ms: 3_600_000 },
  });
  const scope = batchify(stage.options({ clock, poll: '2s' }));
  const reasons: string[] = [];
  scope.on('batch:resent', ({ reason }) => reasons.push(reason));
  const asked = scope.run(() => fetch(chatUrl(stage), chatRequest('twice')));
  await until(() => simulator.batches().length === 1, 'the second create');
  skipHours(1);
  await until(() => simulator.countRequests('POST', /\/cancel$/) === 1, 'the cancel');
  simulator.release();
  const response = await asked;
  await scope.close();
  expect(response.status).toBe(200);
  expect(simulator.meter.total).toBe(1);
  expect(reasons).toEqual([
    'sent again: the create was never accepted',
    expect.stringMatching(/^a twin was cancelled: batch_/),
  ]);
});
