import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../src/index.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import type { FaultAction } from '../../src/simulator/index.ts';
import { readNow } from '../../src/ui/api/now.ts';
import { chatRequest } from '../support/ask.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

it('the page says what is in the way of a program, and what is done about it, until it is over', async () => {
  const { simulator } = stage;
  const clock = new ManualClock();
  simulator.hold();
  const action: FaultAction = { kind: 'status', status: 401, body: { error: { message: 'no' } } };
  const polls = { method: 'GET', path: /^\/v1\/batches/ };
  const fault = simulator.faults.add({ ...polls, times: Number.POSITIVE_INFINITY, action });
  const store = stage.newStore();
  const answers = batchify(
    () => fetch(chatUrl(stage), chatRequest('red')),
    stage.options({ store, clock, display: 'none' }),
  );
  const inTime = async () => clock.advance(100);
  let isOver = false;
  void answers.finally(() => {
    isOver = true;
  });
  await expect.poll(() => inTime().then(() => fault.hits)).toBeGreaterThan(0);
  const ledger = await openLedger(store);
  const troubles = async () => {
    await inTime();
    return (await readNow(ledger, clock.now())).troubles;
  };
  await expect.poll(troubles).toMatchObject([
    {
      text: expect.stringMatching(/refuses the API key \(401\); asking again for up to 10m/),
      owners: [{ pid: process.pid }],
    },
  ]);
  fault.remove();
  await expect.poll(troubles).toEqual([]);
  simulator.release();
  await expect.poll(() => inTime().then(() => isOver)).toBe(true);
  expect((await answers).status).toBe(200);
  await ledger.close();
});
