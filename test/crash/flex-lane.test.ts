import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Stats } from '../../src/index.ts';
import { resultOf, runProgram } from '../support/processes/run-program.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** Many calls, a provider that is full a third of the time, and a kill in the middle. */
const count = 2_000;
const atOnce = 16;
const time = { epoch: Date.now(), speed: 200 };

interface Result {
  /** Answers that belong to their question. */
  readonly right: number;
  readonly statuses: Record<string, number>;
  readonly stats: Stats;
}

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({ clock: fastClock(time) });
});
beforeEach(() => {
  stage.simulator.reset();
  stage.simulator.configure({ flex: { openai: { full: { share: 1 / 3 }, delay: 2_000 } } });
});
afterAll(() => stage.close());

function input(store: string, diesAfter?: number) {
  const { hosts, simulator } = stage;
  const options = { lane: 'flex', realtimeConcurrency: atOnce, store, hosts };
  return { count, diesAfter, baseURL: simulator.baseUrl('openai'), time, options };
}

/** How often each question was billed. */
function timesBilled(): number[] {
  const times = new Map<string, number>();
  for (const { bodyHash } of stage.simulator.meter.executions) {
    times.set(String(bodyHash), (times.get(String(bodyHash)) ?? 0) + 1);
  }
  return [...times.values()];
}

function tell(figures: string): void {
  process.stdout.write(`${figures}\n`);
}

describe('2,000 calls in a flex tier that is full a third of the time', () => {
  it('are all answered, once each, and no caller sees a 429', async () => {
    const result = await resultOf<Result>('ask-in-a-lane', input(stage.newStore()));
    const { meter } = stage.simulator;
    expect(result.right).toBe(count);
    expect(result.statuses).toEqual({ 200: count });
    expect(result.stats).toMatchObject({ flex: count, failed: 0, maybePaidTwice: 0 });
    expect(timesBilled()).toEqual(Array(count).fill(1));
    expect(meter.refusals.length).toBeGreaterThan(count / 4);
    expect(meter.mostAtOnce()).toBeLessThanOrEqual(atOnce);
    expect(Object.fromEntries(meter.countByTier())).toEqual({ flex: count });
    tell(`${count} answers, ${meter.refusals.length} refusals that no caller saw`);
  });

  it('are asked again after a kill only if they were on the wire', async () => {
    const store = stage.newStore();
    const first = await runProgram('ask-in-a-lane', input(store, 700));
    expect(first.code).toBeNull();
    const billedBefore = stage.simulator.meter.total;
    expect(billedBefore).toBeGreaterThanOrEqual(700);
    const { right, statuses, stats } = await resultOf<Result>('ask-in-a-lane', input(store));
    expect(right).toBe(count);
    expect(statuses).toEqual({ 200: count });
    expect(stats.fromLedger).toBeGreaterThanOrEqual(700);
    const twice = timesBilled().filter((times) => times === 2).length;
    expect(timesBilled().every((times) => times <= 2)).toBe(true);
    expect(twice).toBeLessThanOrEqual(stats.maybePaidTwice);
    expect(stats.maybePaidTwice).toBeLessThanOrEqual(atOnce);
    expect(stage.simulator.meter.total).toBe(count + twice);
    const { fromLedger, maybePaidTwice } = stats;
    tell(
      `killed and run again: ${fromLedger} from the ledger, ${twice} paid twice, ${maybePaidTwice} said to be`,
    );
  });
});
