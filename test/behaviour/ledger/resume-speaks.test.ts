import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Agent } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { hearStderr } from '../../support/heard.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let heard: ReturnType<typeof hearStderr>;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  heard = hearStderr();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A run of its own: it counts its questions anew. */
function start(run: string, store: string, given: BatchifyOptions = {}) {
  vi.stubEnv('BATCHLING_RUN', run);
  const scope = batchify({ ...stage.options({ store }), display: 'plain', ...given });
  const asked = scope.run(() =>
    Promise.all(
      ['one', 'two', 'three'].map((prompt) => fetch(chatUrl(stage), chatRequest(prompt))),
    ),
  );
  asked.catch(() => undefined);
  return { scope, asked };
}

async function leaveABatch(store: string): Promise<void> {
  stage.simulator.hold();
  const leave = new AbortController();
  const { scope } = start('first', store, { signal: leave.signal });
  await until(() => scope.stats.batches.submitted === 1, 'the batch');
  leave.abort();
  await until(() => heard.text().includes('Run the program again'), 'the end of the first run');
}

it('a batch of an earlier run is told, and looked at before any time has passed', async () => {
  const store = stage.newStore();
  await leaveABatch(store);
  const clock = new ManualClock();
  const { scope, asked } = start('second', store, { clock, poll: '10m' });
  let polls = 0;
  scope.on('batch:polled', () => {
    polls += 1;
  });
  await until(() => {
    clock.advance(0);
    return polls > 0;
  }, 'the first poll');
  expect(heard.text()).toMatch(
    /^batchling: rejoined bl_\w+: 3 requests of an earlier run \(sent \S+ ago\)$/m,
  );
  stage.simulator.release();
  await until(() => {
    clock.advance(600_000);
    return scope.stats.answered === 3;
  }, 'the answers');
  await asked;
  await scope.close();
  expect(stage.simulator.meter.total).toBe(3);
  expect(heard.lines().filter((line) => line.includes(': sent '))).toHaveLength(1);
});

it('what is told to people alone reaches no listener and no channel', async () => {
  const store = stage.newStore();
  await leaveABatch(store);
  const overheard = vi.fn();
  subscribe('batchling:notice', overheard);
  const { scope, asked } = start('second', store);
  scope.on('notice' as 'batch:polled', overheard);
  await until(() => heard.text().includes('rejoined bl_'), 'the line');
  stage.simulator.release();
  await asked;
  await scope.close();
  unsubscribe('batchling:notice', overheard);
  expect(overheard).not.toHaveBeenCalled();
});

it('requests that another living program has sent are told, once', async () => {
  const store = stage.newStore();
  stage.simulator.hold();
  const first = start('first', store);
  await until(() => first.scope.stats.batches.submitted === 1, 'the batch');
  const dispatcher = new Agent();
  const second = start('second', store, { dispatcher });
  const waiting = '3 requests are in batches of another program that is running';
  await until(() => heard.text().includes(waiting), `"${waiting}"`);
  stage.simulator.release();
  await Promise.all([first.asked, second.asked]);
  await Promise.all([first.scope.close(), second.scope.close()]);
  await dispatcher.close();
  expect(stage.simulator.meter.total).toBe(3);
  expect(heard.text().split('another program')).toHaveLength(2);
});
