import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { compiledProgram } from '../../support/processes/compiled.ts';
import { until } from '../../support/until.ts';
import { jobsPath, openVertexStage, type VertexStage } from './vertex-stage.ts';

let stage: VertexStage;

beforeAll(async () => {
  stage = await openVertexStage();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

const prompts = ['red', 'green', 'blue'];
const create = { method: 'POST', path: jobsPath } as const;
const creates = () => stage.simulator.countRequests('POST', jobsPath);

const model = '/v1/projects/my-project/locations/us-central1/publishers/google/models/gemini-test';
const url = () => `${stage.base}${model}:generateContent`;

/** Runs a program with a token of its own until `isTime`, and kills it. */
async function killWhen(isTime: () => boolean, store: string): Promise<void> {
  const path = await compiledProgram('ask-vertex');
  const options = stage.vertexOptions({ store });
  const input = { prompts, url: url(), token: 'ya29.of-the-first@my-project', options };
  const { BATCHLING_RUN: _, ...environment } = process.env;
  const child = spawn(process.execPath, [path, JSON.stringify(input)], {
    env: { ...environment, BATCHLING_DISPLAY: 'none' },
    stdio: 'ignore',
  });
  const ended = once(child, 'close');
  await until(() => isTime() || child.exitCode !== null, 'the moment of the kill');
  child.kill('SIGKILL');
  expect((await ended)[1]).toBe('SIGKILL');
}

/** Asks the same in this process, where waits pass in no time, with the token of another hour. */
async function askAgain(store: string): Promise<void> {
  const clock = new LeapingClock(40 * 3_600_000);
  const scope = batchify(stage.vertexOptions({ store, clock }));
  const authorization = 'Bearer ya29.of-the-second@my-project';
  const headers = { 'content-type': 'application/json', authorization };
  const ask = async (text: string) => {
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text }] }] });
    return (await fetch(url(), { method: 'POST', headers, body })).text();
  };
  const asked = scope.run(() => Promise.all(prompts.map(ask)));
  const answers = await Promise.race([asked, clock.overslept]);
  await scope.close();
  clock.stop();
  for (const [at, prompt] of prompts.entries()) expect(answers[at]).toContain(`\\"${prompt}\\"`);
}

describe('a program that was killed is continued with a newer token', () => {
  it.each<[string, FaultAction | undefined, () => boolean, number]>([
    [
      'while its create was accepted, which nobody heard: its job is found',
      { kind: 'delay', ms: 20_000 },
      () => stage.simulator.batches().length === 1,
      1,
    ],
    [
      'while its job was running: it is waited for',
      undefined,
      () => stage.simulator.countRequests('GET', /batchPredictionJobs\/\d+$/) > 0,
      1,
    ],
    [
      'while it waited for room: the job is made of the object that is there',
      { kind: 'status', status: 429 },
      () => creates() >= 2,
      1,
    ],
  ])('%s', async (_what, action, isTime, jobs) => {
    const store = stage.newStore();
    stage.simulator.hold();
    const fault = action && stage.simulator.faults.add({ ...create, action, times: 1_000 });
    await killWhen(isTime, store);
    fault?.remove();
    stage.simulator.release();
    await askAgain(store);
    expect(stage.simulator.batches()).toHaveLength(jobs);
    expect(stage.simulator.countRequests('POST', '/upload/storage/v1/b/mine/o')).toBe(1);
    expect(stage.simulator.meter.total).toBe(prompts.length);
  });
});
