import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { hour } from '../guarantees/fault-case.ts';
import { LeapingClock } from '../guarantees/leaping-clock.ts';
import { compiledProgram } from '../support/processes/compiled.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Two requests of at most $0.30 each; killed while their create is under way, which never arrives. */
async function killWhileCreating(store: string): Promise<void> {
  const { simulator } = stage;
  const action = { kind: 'hang', ms: 20_000 } as const;
  const fault = simulator.faults.add({ method: 'POST', path: '/v1/batches', action });
  const options = stage.options({ store });
  const input = { prompts: ['a', 'b'], baseURL: simulator.baseUrl('openai'), options };
  const program = await compiledProgram('ask-within-budget');
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    env: { ...inherited, BATCHLING_DISPLAY: 'none' },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await until(() => fault.hits > 0, 'the create');
  child.kill('SIGKILL');
  await ended;
  fault.remove();
}

/** The same requests again, in this process, where minutes may pass in no time. */
async function askAgain(options: BatchifyOptions): Promise<number[]> {
  const scope = batchify(stage.options(options));
  const client = stage.openai();
  const asked = ['a', 'b'].map((content) => {
    const messages = [{ role: 'user' as const, content }];
    const request = { model: 'gpt-4o-mini', max_tokens: 1_000_000, messages };
    return scope.run(() => client.chat.completions.create(request));
  });
  const told = await Promise.allSettled(asked);
  await scope.close();
  return told.map((one) => (one.status === 'fulfilled' ? 200 : one.reason.status));
}

it('a batch of a killed run that was never created is created only if the budget has room', async () => {
  const { simulator } = stage;
  const store = stage.newStore();
  await killWhileCreating(store);
  const clock = new LeapingClock(hour);
  expect(await askAgain({ store, budget: 0.5, clock })).toEqual([402, 402]);
  clock.stop();
  expect(simulator.batches()).toHaveLength(0);
  expect(await askAgain({ store, budget: 0.7 })).toEqual([200, 200]);
  expect(simulator.meter.total).toBe(2);
});
