import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenAIBatcher, openaiInfo } from '../../../src/batchers/index.ts';
import {
  type BatchifyOptions,
  type BatchlingEvents,
  batchify,
  type MappedLine,
  mapLines,
} from '../../../src/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const speed = { validating: second, running: 10 * minute, finalizing: second, cancelling: minute };

let clock: LeapingClock;
let stage: Stage;
let store: string;

beforeEach(async () => {
  clock = new LeapingClock(60 * hour);
  stage = await openStage({ speed, clock });
  store = stage.newStore();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  clock.stop();
  await stage.close();
});

const sourceOf = (response: Response) => response.headers.get('x-batchling-source');
const ask = (prompt: string) => fetch(chatUrl(stage), chatRequest(prompt));

function scopeWith(given: BatchifyOptions = {}) {
  const { hosts } = stage;
  const scope = batchify({ store, hosts, clock, display: 'none', window: '1s', ...given });
  const slow: BatchlingEvents['batch:slow'][] = [];
  scope.on('batch:slow', (event) => slow.push(event));
  return { scope, slow };
}

/** Three batches of one request that take about ten minutes each: from then on that is usual. */
async function threeUsualBatches(options?: BatchifyOptions): Promise<void> {
  const { scope, slow } = scopeWith(options);
  await scope.run(async () => {
    for (const prompt of ['one', 'two', 'three']) await (await ask(prompt)).text();
  });
  await scope.close();
  expect(slow).toEqual([]);
}

async function jobOf(texts: readonly string[], options: BatchifyOptions): Promise<MappedLine[]> {
  vi.stubEnv('OPENAI_API_KEY', 'sk-test');
  const asked = { model: 'openai/gpt-test', prompt: '{{text}}' };
  const given = { store, hosts: stage.hosts, clock, display: 'none', ...options } as const;
  const told: MappedLine[] = [];
  const lines = texts.map((text) => ({ text }));
  for await (const line of mapLines(lines, { ...asked, ...given })) told.push(line);
  return told;
}

/** A batch that the provider never ends by itself, in a scope with a deadline so that the test does. */
async function stuckBatch(options: BatchifyOptions = {}) {
  stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
  const { scope, slow } = scopeWith({ deadline: '5h', ...options });
  const response = scope.run(() => ask('late'));
  return { scope, slow, response };
}

describe('a batch that takes far longer than usual', () => {
  it('is named once an hour has passed, on the scope, on its channel and in the stats', async () => {
    await threeUsualBatches();
    const published: unknown[] = [];
    const heard = (event: unknown) => published.push(event);
    subscribe('batchling:batch:slow', heard);
    const { scope, slow, response } = await stuckBatch();
    expect((await response).status).toBe(504);
    await scope.close();
    unsubscribe('batchling:batch:slow', heard);
    expect(slow).toEqual([
      {
        provider: 'openai',
        endpoint: '/v1/chat/completions',
        model: 'gpt-test',
        batch: expect.stringMatching(/^bl_/),
        count: 1,
        remoteId: expect.any(String),
        kind: 'slow',
        age: expect.any(Number),
        usual: expect.any(Number),
      },
    ]);
    const [{ age, usual }] = slow as [BatchlingEvents['batch:slow']];
    expect(age).toBeGreaterThanOrEqual(hour);
    expect(age).toBeLessThan(hour + 2 * minute);
    expect(usual).toBeGreaterThanOrEqual(10 * minute);
    expect(usual).toBeLessThan(13 * minute);
    expect(published).toEqual(slow);
    expect(scope.stats.batches.slow).toBe(1);
    // Its deadline has cancelled it, and nothing before.
    expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
  });

  it('is not named where nothing is known about its model', async () => {
    const { scope, slow, response } = await stuckBatch();
    await response;
    await scope.close();
    expect(slow).toEqual([]);
  });

  it('is not compared with smaller ones where its lines are in no memory while it runs', async () => {
    await threeUsualBatches();
    const published: unknown[] = [];
    const heard = (event: unknown) => published.push(event);
    subscribe('batchling:batch:slow', heard);
    stage.simulator.configure({ speed: { ...speed, running: 2 * hour } });
    const told = await jobOf([...'abcdefghijklmnopqrstuvwxyz'], { canary: 'call' });
    unsubscribe('batchling:batch:slow', heard);
    expect(told.every((line) => 'answer' in line)).toBe(true);
    expect(published).toEqual([]);
  });

  it('is called stuck as soon as one that was sent after it has ended', async () => {
    await threeUsualBatches();
    const { scope, slow, response } = await stuckBatch();
    const other = scopeWith({ deadline: '5h', name: 'another' });
    const later = new Promise<Response>((resolve) => {
      clock.setTimeout(() => resolve(other.scope.run(() => ask('later'))), 2 * hour);
    });
    expect((await later).status).toBe(200);
    await response;
    await Promise.all([scope.close(), other.scope.close()]);
    expect(slow.map(({ kind, previous }) => [kind, previous])).toEqual([
      ['slow', undefined],
      ['stuck', 'slow'],
    ]);
    expect(scope.stats.batches.slow).toBe(1);
    expect(other.slow).toEqual([]);
  });

  it('is the fault of the provider where no other one ends either', async () => {
    await threeUsualBatches();
    for (const _ of [1, 2]) stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const { scope, slow } = scopeWith({ deadline: '5h', batchSize: 1 });
    await scope.run(() => Promise.all([ask('late'), ask('late, too')]));
    await scope.close();
    expect(slow.map(({ kind }) => kind)).toEqual(['provider', 'provider']);
    expect(new Set(slow.map(({ batch }) => batch)).size).toBe(2);
  });
});

class LosingBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'losing', cancelLosesWork: true } as const;
}

class BatcherWithoutFlex extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'narrow' } as const;
  override flex(): undefined {
    return undefined;
  }
}

describe('onSlow', () => {
  const four = ['a', 'b', 'c', 'd'];
  /** Half of it is finished when it comes to a halt. */
  const half = { outcome: 'expired', completedFraction: 0.5, stuckIn: 'in_progress' } as const;

  async function textsOf(responses: readonly Response[]): Promise<void> {
    for (const [at, response] of responses.entries()) {
      expect(response.status).toBe(200);
      expect(await response.text()).toContain(`answer to \\"${four[at]}\\"`);
    }
  }

  it.each(['realtime', 'flex'] as const)(
    '"%s" cancels, takes what is finished and sends the rest, each request paid for once',
    async (onSlow) => {
      await threeUsualBatches();
      stage.simulator.faults.nextBatch(half);
      const { scope, slow } = scopeWith({ onSlow });
      const sentBefore: number[] = [];
      const calls = () => stage.simulator.countRequests('POST', '/v1/chat/completions');
      scope.on('batch:ended', () => sentBefore.push(calls()));
      const responses = await scope.run(() => Promise.all(four.map(ask)));
      await scope.close();
      expect(slow).toHaveLength(1);
      expect(responses.map(sourceOf).sort()).toEqual(['batch', 'batch', onSlow, onSlow]);
      await textsOf(responses);
      expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
      expect([sentBefore, calls()]).toEqual([[0], 2]);
      expect(stage.simulator.meter).toMatchObject({ batched: 3 + 2, realtime: 2 });
    },
  );

  it('moves the lines of a job, too', async () => {
    await threeUsualBatches();
    stage.simulator.faults.nextBatch(half);
    const told = await jobOf(four, { canary: false, onSlow: 'realtime' });
    expect(told).toEqual(
      four.map((text, line) => ({
        line,
        id: String(line + 1),
        answer: expect.stringContaining(`answer to "${text}"`),
      })),
    );
    expect(stage.simulator.countRequests('POST', /cancel$/)).toBe(1);
    expect(stage.simulator.meter).toMatchObject({ batched: 3 + 2, realtime: 2 });
  });

  it('"flex" sends the rest in a new batch if the model turns out to have no such tier', async () => {
    await threeUsualBatches();
    stage.simulator.configure({ flex: { openai: { refusedModels: ['gpt-test'] } } });
    stage.simulator.faults.nextBatch(half);
    const { scope } = scopeWith({ onSlow: 'flex' });
    const responses = await scope.run(() => Promise.all(four.map(ask)));
    await scope.close();
    expect(responses.map(sourceOf)).toEqual(['batch', 'batch', 'batch', 'batch']);
    await textsOf(responses);
    expect(stage.simulator.meter).toMatchObject({ batched: 3 + 4, realtime: 0 });
  });

  it('"wait" is the default: age alone cancels nothing', async () => {
    await threeUsualBatches();
    stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const { scope, slow } = scopeWith({ deadline: '20h' });
    const cancels: number[] = [];
    scope.on('batch:polled', () => {
      if (clock.elapsed < 20 * hour) cancels.push(stage.simulator.countRequests('POST', /cancel$/));
    });
    expect((await scope.run(() => ask('late'))).status).toBe(504);
    await scope.close();
    expect(slow).toHaveLength(1);
    expect(Math.max(...cancels)).toBe(0);
  });

  it('goes on where the batch ends by itself after all', async () => {
    await threeUsualBatches();
    stage.simulator.configure({ speed: { ...speed, running: 2 * hour } });
    const cancel = { kind: 'status', status: 500 } as const;
    stage.simulator.faults.add({ path: /cancel$/, times: 1e6, action: cancel });
    const { scope, slow } = scopeWith({ onSlow: 'realtime' });
    const responses = await scope.run(() => Promise.all(four.map(ask)));
    await scope.close();
    expect(slow).toHaveLength(1);
    expect(responses.map(sourceOf)).toEqual(['batch', 'batch', 'batch', 'batch']);
    expect(stage.simulator.meter).toMatchObject({ batched: 3 + 4, realtime: 0 });
  });

  it('"flex" waits for the batch of a provider without such a tier: nothing goes out at full price', async () => {
    const hosts = { [stage.simulator.baseUrl('openai')]: 'narrow' } as const;
    const without = {
      hosts,
      batchers: [BatcherWithoutFlex],
      onSlow: 'flex',
      deadline: '5h',
    } as const;
    await threeUsualBatches(without);
    stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
    const { scope, slow } = scopeWith(without);
    expect((await scope.run(() => ask('late'))).status).toBe(504);
    await scope.close();
    expect(slow).toHaveLength(1);
    expect(stage.simulator.meter.realtime).toBe(0);
  });

  it('moves nothing where a cancel loses what is finished, unless that is accepted', async () => {
    const hosts = { [stage.simulator.baseUrl('openai')]: 'losing' } as const;
    const losing = {
      hosts,
      batchers: [LosingBatcher],
      onSlow: 'realtime',
      deadline: '5h',
    } as const;
    await threeUsualBatches(losing);
    const played = async (options: BatchifyOptions) => {
      stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
      const { scope, slow } = scopeWith({ ...losing, ...options });
      const { status } = await scope.run(() => ask('late'));
      await scope.close();
      expect(slow).toHaveLength(1);
      return [status, stage.simulator.countRequests('POST', /cancel$/)];
    };
    expect(await played({ onDeadline: 'error' })).toEqual([504, 0]);
    const providers = { losing: { cancelAtDeadline: true } };
    expect(await played({ providers })).toEqual([200, 1]);
  });
});
