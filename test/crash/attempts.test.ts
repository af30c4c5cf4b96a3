import { afterEach, expect, it } from 'vitest';
import { type Asker, askToTheEnd, startAsker } from '../support/processes/asker.ts';
import { until } from '../support/until.ts';
import { openScene, type Scene } from './parts/scene.ts';

let scene: Scene;
let asker: Asker | undefined;
afterEach(async () => {
  asker?.send('SIGKILL');
  await scene.close();
});

it('a request that waits for its next attempt when its process is killed has one less', async () => {
  scene = await openScene('openai');
  const { simulator } = scene;
  // A window that is long beside the moment it takes to kill.
  const { time: _, ...input } = scene.input(['[[status 500]]'], {
    options: { window: 400, poll: 10, attempts: 2 },
  });
  asker = await startAsker(input);
  // The last thing that is done about a batch: its outcome is in the ledger by then.
  await until(() => simulator.countRequests('DELETE', /files/) === 1, 'the end of the batch');
  asker.send('SIGKILL');
  await asker.ended;
  const { heard } = await askToTheEnd(input);
  expect(heard).toMatchObject([{ status: 500 }]);
  expect(simulator.meter.failed).toBe(2);
  // Who asks again after the final error asks anew.
  await askToTheEnd(input);
  expect(simulator.meter.failed).toBe(4);
});
