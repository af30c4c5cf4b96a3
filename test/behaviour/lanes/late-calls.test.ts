import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { ask, askGemini } from '../../support/ask.ts';
import { vertexClient } from '../../support/programs/parts/vertex-client.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const model = 'gpt-5-mini';
const six = ['one', 'two', 'three', 'four', 'five', 'six'];
const hour = 3_600_000;
const tiers = () => Object.fromEntries(stage.simulator.meter.countByTier());

/** Six calls whose time is up soon, and that are to go out in the flex tier then. */
function askLate(given: BatchifyOptions): Promise<string[]> {
  const client = stage.openai({ maxRetries: 0 });
  const options = stage.options({ deadline: '200ms', onDeadline: 'flex', ...given });
  return soon(batchify(() => Promise.all(six.map((text) => ask(client, text, model))), options));
}

describe('calls that go out in flex because their time is up, one at a time', () => {
  const slowly = { realtimeConcurrency: 1 } as const;

  it('get into no batch while they wait for their turn, when a slot for one becomes free', async () => {
    stage.simulator.configure({ speed: { running: hour }, flex: { openai: { delay: 100 } } });
    await askLate({ ...slowly, maxInFlight: 1, batchSize: 2 });
    expect(tiers()).toEqual({ flex: 6 });
  });

  it('get into no batch while they wait for their turn, when their canary is answered', async () => {
    const path = '/v1/chat/completions';
    stage.simulator.faults.add({ path, action: { kind: 'delay', ms: 400 } });
    await askLate({ ...slowly, canary: 'call' });
    expect(tiers()).not.toHaveProperty('batch');
  });
});

it('calls behind a canary in a batch that is cancelled at their deadline go out in flex, and so does the canary', async () => {
  stage.simulator.faults.nextBatch({ stuckIn: 'validating' });
  await askLate({ canary: 'batch' });
  expect(tiers()).toEqual({ flex: 6 });
});

describe('a call that has asked for flex itself and finds it full goes out at full price when its time is up', () => {
  const messages = [{ role: 'user' as const, content: 'cat' }];
  const always = { full: 'always' } as const;
  const late = { deadline: '200ms', onDeadline: 'flex' } as const;

  it.each(['batch', 'flex', 'realtime'] as const)('in the lane %s', async (lane) => {
    stage.simulator.configure({ speed: { running: hour }, flex: { openai: always } });
    const create = { model, messages, service_tier: 'flex' } as const;
    const client = stage.openai({ maxRetries: 0 });
    const options = stage.options({ ...late, lane });
    await soon(batchify(() => client.chat.completions.create(create), options));
    expect(tiers()).toEqual({ standard: 1 });
  });

  it('by a header of Azure', async () => {
    stage.simulator.configure({ flex: { azure: always } });
    const baseURL = stage.simulator.baseUrl('azure');
    const defaultHeaders = { 'x-ms-service-tier': 'flex' };
    const client = new OpenAI({ apiKey: 'k', baseURL, defaultHeaders, maxRetries: 0 });
    const hosts = { [baseURL]: 'azure' } as const;
    const options = stage.options({ ...late, lane: 'flex', hosts });
    await soon(batchify(() => ask(client, 'cat', model), options));
    expect(tiers()).toEqual({ standard: 1 });
  });

  it('by headers of Vertex', async () => {
    stage.simulator.configure({ flex: { vertex: always } });
    const baseURL = stage.simulator.baseUrl('vertex');
    const headers = {
      'X-Vertex-AI-LLM-Request-Type': 'shared',
      'X-Vertex-AI-LLM-Shared-Request-Type': 'flex',
    };
    const httpOptions = { baseUrl: baseURL, headers };
    const client = vertexClient(baseURL, 'key', { location: 'global', httpOptions });
    const hosts = { [baseURL]: 'vertex' } as const;
    const options = stage.options({ ...late, lane: 'flex', hosts });
    await soon(batchify(() => askGemini(client, 'cat', 'gemini-2.5-flash'), options));
    expect(tiers()).toEqual({ standard: 1 });
  });
});

it('a call whose batch runs for hours is not answered by it at once, however slowly the provider begins', async () => {
  let looks = 0;
  const clock = {
    // Time passes between any two looks at it.
    now: () => Date.now() + ++looks,
    setTimeout: (callback: () => void, delay: number) => setTimeout(callback, delay).unref(),
    clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
  };
  const slow = await openStage({ clock });
  onTestFinished(() => slow.close());
  slow.simulator.configure({ speed: { running: hour } });
  const options = slow.options({ deadline: '1s', onDeadline: 'flex' });
  await soon(batchify(() => ask(slow.openai(), 'cat', model), options));
  expect(Object.fromEntries(slow.simulator.meter.countByTier())).toEqual({ flex: 1 });
});
