import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { compiledProgram } from '../../support/processes/compiled.ts';
import { until } from '../../support/until.ts';
import { apiKey, ask, type MistralStage, model, openMistral, reasonOf } from './mistral-stage.ts';

let stage: MistralStage;
let stores = 0;

beforeAll(async () => {
  stage = await openMistral();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

const hour = 3_600_000;
const prompts = ['red', 'green', 'blue'];
const create = { method: 'POST', path: '/v1/batch/jobs' } as const;

function newStore(): string {
  stores += 1;
  return join(stage.folder, `ledger-${stores}`, 'ledger.db');
}

/** Asks in this process, where waits pass in no time. */
async function askAll(given: BatchifyOptions = {}) {
  const clock = new LeapingClock(40 * hour);
  const scope = batchify(stage.options({ ...given, clock }));
  const resent: string[] = [];
  scope.on('batch:resent', ({ reason }) => resent.push(reason));
  const client = stage.client();
  const asked = scope.run(() => Promise.all(prompts.map((prompt) => ask(client, prompt))));
  const answers = await Promise.race([asked, clock.overslept]);
  await scope.close();
  clock.stop();
  for (const [at, prompt] of prompts.entries()) expect(answers[at]).toContain(`"${prompt}"`);
  return resent;
}

describe('a create whose answer is lost', () => {
  it.each<[string, FaultAction]>([
    ['the connection breaks', { kind: 'lost' }],
    ['a gateway answers', { kind: 'status', status: 502, accept: true }],
    ['half of the answer comes', { kind: 'truncate' }],
  ])('is found again by its metadata among strangers: %s', async (_what, action) => {
    stage.simulator.configure({ foreignBatches: true });
    stage.simulator.faults.add({ ...create, action });
    expect(await askAll()).toEqual([]);
    expect(stage.simulator.countRequests('POST', create.path)).toBe(1);
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('is sent again if it was never accepted', async () => {
    stage.simulator.faults.add({ ...create, action: { kind: 'reset' } });
    await askAll();
    expect(stage.simulator.countRequests('POST', create.path)).toBe(2);
    expect(stage.simulator.meter.total).toBe(3);
  });
});

describe('a program that was killed', () => {
  /** Runs a program until `isTime`, and kills it. */
  async function killWhen(isTime: () => boolean, store: string): Promise<void> {
    const path = await compiledProgram('ask-mistral');
    const { serverURL } = stage;
    const input = { prompts, serverURL, apiKey, model, options: stage.options({ store }) };
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

  const creates = () => stage.simulator.countRequests('POST', create.path);

  it('before its create was accepted has sent nothing: the requests go again, with their bodies', async () => {
    const store = newStore();
    const fault = stage.simulator.faults.add({ ...create, action: { kind: 'hang', ms: 5_000 } });
    await killWhen(() => creates() === 1, store);
    fault.remove();
    await askAll({ store });
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('after its create was accepted has its batch found', async () => {
    const store = newStore();
    const fault = stage.simulator.faults.add({ ...create, action: { kind: 'delay', ms: 20_000 } });
    await killWhen(() => stage.simulator.batches().length === 1, store);
    fault.remove();
    await askAll({ store });
    expect(creates()).toBe(1);
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('while it waited for room has left a staged batch: the requests go anew', async () => {
    const store = newStore();
    const action = { kind: 'status', status: 429 } as const;
    const fault = stage.simulator.faults.add({ ...create, times: 1_000, action });
    // The second create comes after the first refusal was written down.
    await killWhen(() => creates() >= 2, store);
    fault.remove();
    await askAll({ store });
    expect(stage.simulator.batches()).toHaveLength(1);
    expect(stage.simulator.meter.total).toBe(3);
  });
});

describe('a batch that ends early', () => {
  it('by a cancel of the scope is cancelled at the provider', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options());
    const client = stage.client();
    const asked = reasonOf(scope.run(() => ask(client, 'hi')));
    await until(() => stage.simulator.batches()[0]?.phase === 'in_progress', 'the batch');
    await scope.cancel();
    expect(await asked).toMatchObject({ statusCode: 499 });
    await scope.close();
    const [{ id = '' } = {}] = stage.simulator.batches();
    expect(stage.simulator.countRequests('POST', `/v1/batch/jobs/${id}/cancel`)).toBe(1);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('by its time keeps what has run, and sends the rest again', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 1 / 3 });
    await askAll();
    expect(stage.simulator.batches().map(({ requests }) => requests)).toEqual([3, 2]);
    expect(stage.simulator.meter.total).toBe(3);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
  });
});
