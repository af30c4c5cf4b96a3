import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));
const onePath = /^\/v1\/batches\/[^/]+$/;
/** Longer than the longest pause between two polls. */
const round = 120_000;

/** A scope with `count` batches under way, whose time stands still. */
async function openBatches(count: number, given: BatchifyOptions = {}) {
  const { simulator } = stage;
  const clock = new ManualClock();
  simulator.hold();
  const scope = batchify(
    stage.options({ clock, batchSize: 1, maxInFlight: count, poll: '10s..60s', ...given }),
  );
  const asked = scope.run(() =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(`number ${index}`))),
  );
  await until(() => scope.stats.batches.submitted === count, `${count} batches`);
  const closed = asked.finally(() => scope.close());
  closed.catch(() => undefined);
  return { clock, scope, asked, closed };
}

type Scope = Awaited<ReturnType<typeof openBatches>>;

/** Lets one round of polls happen and counts its requests. */
async function pollOnce({ clock, scope }: Scope, open: number) {
  const { simulator } = stage;
  let polled = 0;
  const off = scope.on('batch:polled', () => {
    polled += 1;
  });
  const lists = simulator.countRequests('GET', '/v1/batches');
  const singles = simulator.countRequests('GET', onePath);
  clock.advance(round / 2);
  await until(() => polled >= open, 'every batch to be polled');
  off();
  return {
    lists: simulator.countRequests('GET', '/v1/batches') - lists,
    singles: simulator.countRequests('GET', onePath) - singles,
  };
}

/** Lets time pass, round by round, until the promise is settled. */
async function passTime<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  promise.then(end, end);
  await until(() => {
    if (!settled) clock.advance(10_000);
    return settled;
  }, 'the answers');
  return promise;
}

describe('a poll round over 200 open batches of one account', () => {
  it('makes at most four list calls and asks for no batch by itself', async () => {
    const scope = await openBatches(200);
    for (const _ of [1, 2]) {
      const { lists, singles } = await pollOnce(scope, 200);
      expect(lists).toBeLessThanOrEqual(4);
      expect(singles).toBe(0);
    }
    stage.simulator.release();
    const answers = await passTime(scope.clock, scope.asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    await passTime(scope.clock, scope.closed);
  });

  it('reads no more pages than it needs when strangers fill them, and asks for the rest singly', async () => {
    const scope = await openBatches(200);
    for (let strangers = 0; strangers < 500; strangers += 1) {
      stage.simulator.addForeignBatch({ provider: 'openai', size: 1 });
    }
    const { lists, singles } = await pollOnce(scope, 200);
    expect(lists).toBeLessThanOrEqual(Math.ceil(200 / 100) + 2);
    expect(singles).toBe(200);
    stage.simulator.release();
    await passTime(scope.clock, scope.asked);
    await passTime(scope.clock, scope.closed);
  });
});

const troubles: [string, FaultAction][] = [
  ['500', { kind: 'status', status: 500 }],
  ['429', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
  ['a reset', { kind: 'reset' }],
  ['garbage', { kind: 'garbage' }],
  ['half an answer', { kind: 'truncate' }],
];

describe.each([1, 4])('polls of %i open batches that fail', (count) => {
  it.each(troubles)('with %s, fifty times in a row, fail no caller', async (_, action) => {
    const { simulator } = stage;
    const scope = await openBatches(count);
    const path = /^\/v1\/batches/;
    const fault = simulator.faults.add({ method: 'GET', path, times: 50, action });
    simulator.release();
    const answers = await passTime(scope.clock, scope.asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(fault.hits).toBe(50);
    expect(simulator.meter.total).toBe(count);
    await passTime(scope.clock, scope.closed);
  });
});

it('a status that nobody has heard of does not end a batch', async () => {
  const { simulator } = stage;
  simulator.faults.nextBatch({ unknownStatus: 'pondering' });
  const scope = await openBatches(1);
  await until(() => simulator.batches()[0]?.phase === 'in_progress', 'the batch to be validated');
  const statuses: string[] = [];
  scope.scope.on('batch:polled', ({ status }) => statuses.push(status));
  for (const _ of [1, 2, 3]) await pollOnce(scope, 1);
  expect(new Set(statuses)).toEqual(new Set(['pondering']));
  expect(scope.scope.stats.answered).toBe(0);
  simulator.release();
  const [answer] = await passTime(scope.clock, scope.asked);
  expect(answer?.status).toBe(200);
  await passTime(scope.clock, scope.closed);
});
