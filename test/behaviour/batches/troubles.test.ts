import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatchifyOptions, batchify, type Logger } from '../../../src/index.ts';
import type { FaultAction } from '../../../src/simulator/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { hearStderr } from '../../support/heard.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let heard: ReturnType<typeof hearStderr>;
const leftOpen: AbortController[] = [];

let clock: ManualClock;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(async () => {
  // Only now: what the scopes say at their end comes after their tests.
  vi.restoreAllMocks();
  await stage.close();
});
beforeEach(() => {
  stage.simulator.reset();
  clock = new ManualClock();
  heard = hearStderr();
});
afterEach(() => {
  for (const controller of leftOpen.splice(0)) controller.abort();
});

/** A scope with so many calls in batches of one, which ends with its test. */
function startCalls(count: number, given: BatchifyOptions = {}, url = chatUrl(stage)) {
  const controller = new AbortController();
  leftOpen.push(controller);
  const most = { batchSize: 1, maxInFlight: 50, poll: 200 };
  const options = stage.options({ display: 'plain', clock, ...most, ...given });
  const scope = batchify({ ...options, signal: controller.signal });
  const asked = scope.run(() =>
    Promise.all(
      Array.from({ length: count }, (_, at) => fetch(url, chatRequest(`question ${at}`))),
    ),
  );
  asked.catch(() => undefined);
  return { scope, asked };
}

/** Lets time pass until it is so. */
function inTime(condition: () => boolean, what: string): Promise<void> {
  return until(() => {
    clock.advance(100);
    return condition();
  }, what);
}

/** The lines of this kind, once there is one. */
async function told(what: string): Promise<string[]> {
  const lines = () => heard.lines().filter((line) => line.includes(what));
  await inTime(() => lines().length > 0, `a line with "${what}"`);
  return lines();
}

const polls = { method: 'GET', path: /^\/v1\/batches/ };
const forever = Number.POSITIVE_INFINITY;
const refused: FaultAction = { kind: 'status', status: 401, body: { error: { message: 'no' } } };

describe('without a network', () => {
  // Nothing listens on it.
  const base = 'http://127.0.0.1:9/v1';

  it('the first upload that fails says so, with what is done about it', async () => {
    const warnings: string[] = [];
    const warn = (message: string) => warnings.push(message);
    const silent = () => undefined;
    const logger = { debug: silent, info: silent, warn, error: silent } as Logger;
    startCalls(3, { hosts: { [base]: 'openai' }, logger }, `${base}/chat/completions`);
    const line =
      'batchling: cannot reach 127.0.0.1:9 (ECONNREFUSED); trying again for up to 15m. Nothing is lost';
    expect(await told('cannot reach')).toEqual([line]);
    expect(warnings).toContain(line);
  });
});

describe('while batches are polled', () => {
  it('a refused key is told once for the account, and when it is good again', async () => {
    stage.simulator.hold();
    const fault = stage.simulator.faults.add({ ...polls, times: forever, action: refused });
    const { scope, asked } = startCalls(5);
    const [line, ...more] = await told('refuses the API key');
    expect(line).toContain('asking again for up to 10m, then the waiting calls get this error');
    await inTime(() => fault.hits > 20, 'more polls');
    fault.remove();
    expect(await told('accepts the API key again')).toHaveLength(1);
    expect([...more, ...(await told('refuses the API key'))]).toEqual([line]);
    stage.simulator.release();
    await inTime(() => scope.stats.answered === 5, 'the answers');
    await asked;
    await scope.close();
  });

  it('errors of the provider are told when they come again and again, not at the first', async () => {
    stage.simulator.hold();
    const action: FaultAction = { kind: 'status', status: 500 };
    const first = stage.simulator.faults.add({ ...polls, times: 2, action });
    const { scope } = startCalls(1);
    let polled = 0;
    scope.on('batch:polled', () => {
      polled += 1;
    });
    await inTime(() => first.hits === 2 && polled > 0, 'two errors and a good answer');
    expect(heard.text()).not.toContain('again and again');
    stage.simulator.faults.add({ ...polls, times: forever, action });
    expect(await told('answers 500, again and again')).toHaveLength(1);
  });

  it('a long Retry-After is told with its length', async () => {
    stage.simulator.hold();
    const headers = { 'retry-after': '300' };
    const action: FaultAction = { kind: 'status', status: 429, headers };
    stage.simulator.faults.add({ ...polls, times: forever, action });
    startCalls(1);
    expect(await told('asks us to wait')).toEqual([expect.stringContaining('wait 5m (429)')]);
  });
});

describe('where there is no room', () => {
  it('a full quota is told once, without the key that the provider repeats', async () => {
    const message = 'Enqueued token limit reached for sk-test-key. Try later.';
    const action: FaultAction = { kind: 'status', status: 429, body: { error: { message } } };
    const fault = { method: 'POST', path: '/v1/batches', times: forever, action };
    const { hits } = stage.simulator.faults.add(fault);
    expect(hits).toBe(0);
    startCalls(4);
    const lines = await told('has no room');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('Enqueued token limit reached for [redacted]');
    expect(heard.text()).not.toContain('sk-test-key');
    expect(heard.text()).not.toContain('no room yet');
  });

  it('a full number of batches is told once', async () => {
    stage.simulator.hold();
    const { scope, asked } = startCalls(5, { maxInFlight: 2 });
    const [line] = await told('maxInFlight');
    expect(line).toContain('openai has 2 batches under way, the most at once (maxInFlight)');
    stage.simulator.release();
    await inTime(() => scope.stats.answered === 5, 'the answers');
    await asked;
    await scope.close();
    expect(await told('maxInFlight')).toHaveLength(1);
  });
});

describe('a budget that is used up', () => {
  it('is told once for a model, however many batches it stops', async () => {
    const prices = { 'gpt-test': { input: 1, output: 1 } };
    const { scope, asked } = startCalls(4, {
      budget: 0.000001,
      providers: { openai: { prices } },
    });
    await inTime(() => scope.stats.answered === 4, 'the errors');
    for (const { status } of await asked) expect(status).toBe(402);
    await scope.close();
    expect(await told('the budget of this run')).toHaveLength(1);
  });
});

describe('batches that are refused as a whole', () => {
  it('are told once while the reason is the same', async () => {
    const body = { error: { message: 'No money.', code: 'billing' } };
    const action: FaultAction = { kind: 'status', status: 400, body };
    const fault = { method: 'POST', path: '/v1/batches', times: forever, action };
    expect(stage.simulator.faults.add(fault).hits).toBe(0);
    const { scope, asked } = startCalls(4);
    await inTime(() => scope.stats.answered === 4, 'the errors');
    for (const { status } of await asked) expect(status).toBe(400);
    await scope.close();
    expect(await told('failed: ')).toEqual([expect.stringContaining('No money.')]);
  });
});
