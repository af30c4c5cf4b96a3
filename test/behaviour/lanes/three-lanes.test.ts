import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { startSimulator } from '../../../src/simulator/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { ask } from '../../support/ask.ts';

const second = 1_000;
const minute = 60 * second;
const count = 100;

interface Measured {
  readonly lane: string;
  readonly minutes: number;
  readonly dollars: number;
  readonly onTheWire: number;
}

/** The same program in one lane, by the clock that it shares with the simulated provider. */
async function measure(lane: 'batch' | 'flex' | 'realtime'): Promise<Measured> {
  const clock = new LeapingClock(48 * 60 * minute);
  const simulator = await startSimulator({
    clock,
    speed: { validating: 5 * second, running: 20 * minute, finalizing: 30 * second },
    flex: { openai: { full: { share: 1 / 3 } } },
  });
  const folder = await mkdtemp(join(tmpdir(), 'batchling-lanes-'));
  onTestFinished(async () => {
    clock.stop();
    await simulator.close();
    await rm(folder, { recursive: true, force: true });
  });
  const baseURL = simulator.baseUrl('openai');
  const client = new OpenAI({ apiKey: 'sk-test-key', baseURL, maxRetries: 0 });
  const hosts = { [baseURL]: 'openai' } as const;
  const scope = batchify({ lane, clock, hosts, store: join(folder, 'ledger.db') });
  const questions = Array.from({ length: count }, (_, index) => `question ${index}`);
  await scope.run(() => Promise.all(questions.map((text) => ask(client, text, 'gpt-5-mini'))));
  const { elapsed } = clock;
  await scope.close();
  const { meter } = simulator;
  const onTheWire = meter.realtime + meter.refusals.length + simulator.batches().length;
  return { lane, minutes: elapsed / minute, dollars: scope.stats.dollars.paid, onTheWire };
}

it('the same program in three lanes: what it costs, how long it takes, what is on the wire', async () => {
  const batch = await measure('batch');
  const flex = await measure('flex');
  const realtime = await measure('realtime');
  const rows = [batch, flex, realtime].map(
    ({ lane, minutes, dollars, onTheWire }) =>
      `${lane.padEnd(9)} ${minutes.toFixed(1).padStart(6)} min  $${dollars.toFixed(6)}  ${onTheWire} calls or batches sent`,
  );
  console.log(`${count} calls to gpt-5-mini\n${rows.join('\n')}`);
  // Answers differ by a token or two.
  expect(flex.dollars / batch.dollars).toBeCloseTo(1, 1);
  expect(realtime.dollars / batch.dollars).toBeCloseTo(2, 1);
  expect(flex.minutes).toBeLessThan(batch.minutes);
  expect(realtime.minutes).toBeLessThan(flex.minutes);
  expect([batch.onTheWire, realtime.onTheWire]).toEqual([1, count]);
  expect(flex.onTheWire).toBeGreaterThan(count);
});
