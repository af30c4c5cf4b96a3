import { setTimeout as sleep } from 'node:timers/promises';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { patientClock } from '../support/clocks/patient-clock.ts';
import { type Asker, startAsker } from '../support/processes/asker.ts';
import { soon, until } from '../support/until.ts';
import { openScene, type Scene } from './parts/scene.ts';

let scene: Scene;
let other: Asker;
let scope: BatchingContext;

beforeEach(async () => {
  scene = await openScene('openai', {}, {}, 1);
});
afterEach(async () => {
  other.send('SIGKILL');
  await scene.close();
});

/** Asks what the other process has asked already, with a deadline that passes while it waits. */
async function askTooLate(): Promise<{ answer: Promise<string> }> {
  const { options, baseURL, apiKey } = scene.input([]);
  const { clock, skipHours, isWaitedFor } = patientClock();
  scope = batchify({ ...options, clock, deadline: '1h', onDeadline: 'realtime' });
  const client = new OpenAI({ apiKey, baseURL, organization: null, project: null });
  const answer = scope.run(() => ask(client, 'shared'));
  await until(isWaitedFor, 'the deadline');
  skipHours(2);
  // Long enough for an ordinary call to go out.
  await sleep(300);
  expect(scene.simulator.meter.realtime).toBe(0);
  return { answer };
}

describe('onDeadline: "realtime" while another process has the request', () => {
  it('takes the answer of that process, and nothing is paid for twice', async () => {
    scene.simulator.hold();
    other = await startAsker(scene.input(['shared']));
    await until(() => scene.simulator.batches().length === 1, 'the batch');
    const { answer } = await askTooLate();
    scene.simulator.release();
    expect(await soon(answer)).toContain('"shared"');
    await other.ended;
    await scope.close();
    expect(scene.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });

  it('goes out once that process has ended without sending it', async () => {
    const { faults } = scene.simulator;
    faults.add({ method: 'POST', path: '/v1/files', action: { kind: 'hang', ms: 600_000 } });
    other = await startAsker(scene.input(['shared']));
    await until(() => scene.simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
    const { answer } = await askTooLate();
    other.send('SIGKILL');
    expect(await soon(answer)).toContain('"shared"');
    await scope.close();
    expect(scene.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });
});
