import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify, type Clock } from '../../src/index.ts';
import { chatRequest } from '../support/ask.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Hours pass when the test says so; everything short runs in real time. */
function patientClock() {
  const held = new Set<() => void>();
  let skipped = 0;
  const clock: Clock = {
    now: () => Date.now() + skipped,
    setTimeout: (callback, delay) => {
      if (delay < 60_000) return setTimeout(callback, delay).unref();
      held.add(callback);
      return callback;
    },
    clearTimeout: (timer) => {
      if (!held.delete(timer as () => void)) clearTimeout(timer as NodeJS.Timeout);
    },
  };
  const skipHours = (hours: number) => {
    skipped += hours * 3_600_000;
    for (const callback of [...held]) {
      held.delete(callback);
      callback();
    }
  };
  return { clock, skipHours };
}

/** A scope whose deadline of an hour passes as soon as its batch is with the provider. */
function scopeWithPassingDeadline(given: BatchifyOptions = {}) {
  const { clock, skipHours } = patientClock();
  const scope = batchify(stage.options({ clock, deadline: '1h', ...given }));
  scope.on('batch:submitted', () => setImmediate(() => skipHours(2)));
  return scope;
}

const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));
const sourceOf = (response: Response) => response.headers.get('x-batchling-source');

describe('a deadline', () => {
  it('ends what is not sent yet with 504, and sends it never', async () => {
    const scope = batchify(stage.options({ deadline: '30ms', window: '1m', maxWindow: '1m' }));
    const response = await scope.run(() => ask('too slow'));
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_deadline' } });
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it('can be one moment for all', async () => {
    const deadline = new Date(Date.now() + 30);
    const scope = batchify(stage.options({ deadline, window: '1m', maxWindow: '1m' }));
    const responses = await scope.run(() => Promise.all([ask('one'), ask('two')]));
    expect(responses.map(({ status }) => status)).toEqual([504, 504]);
    await scope.close();
  });

  it('cancels a batch under way, takes what is finished and ends the rest with 504', async () => {
    stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const scope = scopeWithPassingDeadline();
    const responses = await scope.run(() => Promise.all([ask('a'), ask('b'), ask('c')]));
    await scope.close();
    expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 504)).toEqual([]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(stage.simulator.meter.total);
    expect(stage.simulator.countRequests('POST', '/v1/batches')).toBe(1);
  });

  it('with onDeadline: "realtime" sends only the rest as ordinary calls', async () => {
    stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const scope = scopeWithPassingDeadline({ onDeadline: 'realtime' });
    const responses = await scope.run(() => Promise.all([ask('a'), ask('b')]));
    await scope.close();
    expect(responses.map(sourceOf)).toEqual(['realtime', 'realtime']);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 2 });
    expect(scope.stats).toMatchObject({ answered: 2, realtime: 2 });
  });

  it('sends nothing again before the batch has ended', async () => {
    stage.simulator.configure({ speed: { cancelling: 100 } });
    stage.simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const scope = scopeWithPassingDeadline({ onDeadline: 'realtime' });
    const asked = scope.run(() => ask('patience'));
    await until(() => stage.simulator.countRequests('POST', /cancel$/) === 1, 'the cancel');
    expect(stage.simulator.meter.realtime).toBe(0);
    expect((await asked).status).toBe(200);
    expect(stage.simulator.meter.total).toBe(1);
    await scope.close();
  });

  it('that is not reached changes nothing', async () => {
    const response = await batchify(() => ask('in time'), stage.options({ deadline: '1h' }));
    expect(sourceOf(response)).toBe('batch');
  });
});

describe('minBatch', () => {
  it('sends fewer requests than that as ordinary calls', async () => {
    const scope = batchify(stage.options({ minBatch: 3 }));
    const few = await scope.run(() => Promise.all([ask('one'), ask('two')]));
    expect(few.map(sourceOf)).toEqual(['realtime', 'realtime']);
    expect(await few[0]?.json()).toMatchObject({ object: 'chat.completion' });
    const many = await scope.run(() => Promise.all(['a', 'b', 'c'].map(ask)));
    expect(many.map(sourceOf)).toEqual(['batch', 'batch', 'batch']);
    await scope.close();
    expect(stage.simulator.meter).toMatchObject({ batched: 3, realtime: 2 });
  });

  it('sends no more of them at once than realtimeConcurrency', async () => {
    stage.simulator.faults.add({
      path: '/v1/chat/completions',
      times: 4,
      action: { kind: 'delay', ms: 40 },
    });
    let most = 0;
    let now = 0;
    const counted = async (...parameters: Parameters<typeof fetch>) => {
      now += 1;
      most = Math.max(most, now);
      try {
        return await plain(...parameters);
      } finally {
        now -= 1;
      }
    };
    const plain = globalThis.fetch;
    globalThis.fetch = counted;
    try {
      const options = stage.options({ minBatch: 10, realtimeConcurrency: 2 });
      await batchify(() => Promise.all(['a', 'b', 'c', 'd'].map(ask)), options);
    } finally {
      globalThis.fetch = plain;
    }
    expect(most).toBe(2);
  });
});
