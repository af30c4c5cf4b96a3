import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OpenAIBatcher, openaiInfo } from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

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

  it('with onDeadline: "realtime" takes what the cancelled batch has finished, and pays for it once', async () => {
    const half = { outcome: 'expired', completedFraction: 0.5 } as const;
    stage.simulator.faults.nextBatch({ ...half, stuckIn: 'in_progress' });
    const { clock, skipHours } = patientClock();
    const given = { clock, deadline: '1h', onDeadline: 'realtime' } as const;
    const scope = batchify(stage.options(given));
    const prompts = ['a', 'b', 'c', 'd'];
    const asked = scope.run(() => Promise.all(prompts.map(ask)));
    await until(() => stage.simulator.meter.total === 2, 'half of the batch');
    skipHours(2);
    const responses = await asked;
    await scope.close();
    expect(responses.map(sourceOf).sort()).toEqual(['batch', 'batch', 'realtime', 'realtime']);
    expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 2 });
    for (const [index, response] of responses.entries()) {
      expect(await response.text()).toContain(`answer to \\"${prompts[index]}\\"`);
    }
  });

  it('sends nothing again before the batch has ended', async () => {
    stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const scope = scopeWithPassingDeadline({ onDeadline: 'realtime' });
    const sentBefore: number[] = [];
    const realtimeCalls = () => stage.simulator.countRequests('POST', '/v1/chat/completions');
    scope.on('batch:ended', () => sentBefore.push(realtimeCalls()));
    expect((await scope.run(() => ask('patience'))).status).toBe(200);
    await scope.close();
    expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
    expect([sentBefore, realtimeCalls()]).toEqual([[0], 1]);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('ends its own calls alone when the others of the batch have time', async () => {
    stage.simulator.hold();
    const { clock, skipHours } = patientClock();
    const windows = { window: '50s', maxWindow: '55s' } as const;
    const scope = batchify(stage.options({ clock, ...windows, deadline: '3h' }));
    const early = scope.run(() => ask('there is no time'));
    await until(() => scope.stats.captured === 1, 'the first call');
    skipHours(2);
    const later = scope.run(() => ask('there is time'));
    await until(() => scope.stats.captured === 2, 'the second call');
    await scope.flush();
    await until(() => stage.simulator.batches().length === 1, 'the batch of both');
    skipHours(2);
    expect((await early).status).toBe(504);
    stage.simulator.release();
    expect((await later).status).toBe(200);
    await scope.close();
    expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(0);
  });

  it('ends what waits until its account may have another batch under way', async () => {
    stage.simulator.hold();
    const { clock, skipHours } = patientClock();
    const one = { store: stage.newStore(), clock, maxInFlight: 1 };
    const first = batchify(stage.options(one));
    const waiting = first.run(() => ask('the only one'));
    await until(() => stage.simulator.batches().length === 1, 'the first batch');
    const second = batchify(stage.options({ ...one, deadline: '1h', window: '1ms' }));
    const flushed = new Promise((resolve) => second.on('queue:flushed', resolve));
    const late = second.run(() => ask('too late'));
    await flushed;
    skipHours(2);
    expect((await late).status).toBe(504);
    stage.simulator.release();
    expect((await waiting).status).toBe(200);
    await Promise.all([first.close(), second.close()]);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('that is not reached changes nothing', async () => {
    const response = await batchify(() => ask('in time'), stage.options({ deadline: '1h' }));
    expect(sourceOf(response)).toBe('batch');
  });
});

describe('an ordinary call of ours', () => {
  it('has a time limit of its own, and ends with 504', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ path, action: { kind: 'hang', ms: 600_000 } });
    const { clock, skipHours } = patientClock();
    const scope = batchify(stage.options({ minBatch: 2, clock }));
    const asked = scope.run(() => ask('is anybody there?'));
    await until(() => stage.simulator.countRequests('POST', path) === 1, 'the call');
    skipHours(1);
    const response = await asked;
    expect(response.status).toBe(504);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_deadline' } });
    await scope.close();
  });
});

describe('where cancelling loses finished work', () => {
  class LosingBatcher extends OpenAIBatcher {
    override readonly info = { ...openaiInfo, name: 'losing', cancelLosesWork: true } as const;
  }

  function options(given: BatchifyOptions = {}): BatchifyOptions {
    const hosts = { [stage.simulator.baseUrl('openai')]: 'losing' } as const;
    const batchers = [LosingBatcher];
    return stage.options({ hosts, batchers, deadline: '1h', onDeadline: 'realtime', ...given });
  }

  it('onDeadline: "realtime" is refused before anything is sent', async () => {
    const response = await batchify(() => ask('too dear'), options());
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe('batchling_unsupported');
    expect(error.message).toContain('cancelAtDeadline: true');
    expect(stage.simulator.requests).toEqual([]);
  });

  it.each([
    ['it is accepted', { providers: { losing: { cancelAtDeadline: true } } }],
    ['onDeadline is "error"', { onDeadline: 'error' }],
    ['there is no deadline', { deadline: null }],
  ] as const)('calls are batched when %s', async (_when, given) => {
    const response = await batchify(() => ask('fine'), options(given as BatchifyOptions));
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
