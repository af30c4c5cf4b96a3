import type OpenAI from 'openai';
import { AzureOpenAI } from 'openai';
import { describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { until } from '../../support/until.ts';
import { apiKey, online, strayRequests, styles, useAzure } from './azure-stage.ts';

const prompts = ['one', 'two', 'three', 'four'];

describe.each(styles)('batches of a program that uses $name', (style) => {
  const stage = useAzure();
  const { root } = style;
  const askAll = (client: OpenAI) =>
    Promise.allSettled(prompts.map((prompt) => ask(client, prompt, online)));

  function expectAnswers(outcomes: readonly PromiseSettledResult<string>[]): void {
    for (const [index, prompt] of prompts.entries()) {
      expect(outcomes[index]).toMatchObject({
        value: expect.stringContaining(`answer to "${prompt}"`),
      });
    }
  }

  it('whose create was answered into the void are found by their file, and run once', async () => {
    const { simulator } = stage;
    simulator.configure({ foreignBatches: true });
    simulator.faults.add({ method: 'POST', path: `${root}/batches`, action: { kind: 'lost' } });
    expectAnswers(await batchify(() => askAll(style.connect(stage)), stage.options()));
    expect(simulator.meter.total).toBe(prompts.length);
    expect(simulator.countRequests('POST', `${root}/batches`)).toBe(1);
    expect(strayRequests(stage, style)).toEqual([]);
  });

  it('are gone on with by the next program, at the same root and version', async () => {
    const { simulator } = stage;
    const options = stage.options();
    const stop = new AbortController();
    simulator.hold();
    const first = batchify({ ...options, signal: stop.signal });
    const asked = first.run(() => askAll(style.connect(stage)));
    asked.catch(() => undefined);
    await until(() => simulator.batches().length === 1, 'the batch');
    stop.abort(new Error('stopped'));
    await first.close().catch(() => undefined);
    simulator.release();
    expectAnswers(await batchify(() => askAll(style.connect(stage)), options));
    expect(simulator.batches()).toHaveLength(1);
    expect(simulator.meter.total).toBe(prompts.length);
    expect(strayRequests(stage, style)).toEqual([]);
  });

  it('are cancelled at Azure by cancel()', async () => {
    const { simulator } = stage;
    simulator.hold();
    const scope = batchify(stage.options());
    const asked = scope.run(() => askAll(style.connect(stage)));
    await until(() => simulator.batches()[0]?.phase === 'in_progress', 'the batch');
    await scope.cancel();
    for (const outcome of await asked) {
      expect(outcome).toMatchObject({ reason: { status: 499, type: 'batchling_cancelled' } });
    }
    await scope.close();
    expect(simulator.countRequests('POST', new RegExp(`^${root}/batches/.*/cancel$`))).toBe(1);
    expect(simulator.meter.total).toBe(0);
  });

  it('that expire keep what has run, and the rest is sent again', async () => {
    const { simulator } = stage;
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    expectAnswers(await batchify(() => askAll(style.connect(stage)), stage.options()));
    expect(simulator.batches().map(({ requests }) => requests)).toEqual([4, 2]);
    expect(simulator.meter.total).toBe(prompts.length);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });

  it('that fail as a whole tell their callers why', async () => {
    const message = 'The SKU of the deployment must be globalbatch.';
    const errors = [{ code: 'invalid_request', message, line: 1 }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    for (const outcome of await batchify(() => askAll(style.connect(stage)), stage.options())) {
      expect(outcome).toMatchObject({
        reason: { status: 400, code: 'invalid_request', message: expect.stringContaining(message) },
      });
    }
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it('that are refused at once tell their callers so', async () => {
    const body = { error: { code: '403', message: 'Access denied due to a network rule.' } };
    const action = { kind: 'status', status: 403, body } as const;
    stage.simulator.faults.add({ method: 'POST', path: `${root}/files`, action });
    for (const outcome of await batchify(() => askAll(style.connect(stage)), stage.options())) {
      expect(outcome).toMatchObject({ reason: { status: 403, message: /network rule/ } });
    }
  });

  it('wait until their file is processed, and for room for it', async () => {
    const { simulator } = stage;
    simulator.configure({ fileProcessing: 20 });
    const body = { error: { code: 'quotaExceeded', message: 'No room for files.' } };
    const action = { kind: 'status', status: 400, body } as const;
    simulator.faults.add({ method: 'POST', path: `${root}/files`, action, times: 2 });
    expectAnswers(await batchify(() => askAll(style.connect(stage)), stage.options()));
    expect(simulator.countRequests('POST', `${root}/files`)).toBe(3);
    expect(simulator.countRequests('POST', `${root}/batches`)).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
  });
});

describe('two versions of the older API in one program', () => {
  const stage = useAzure();

  it('share no batch, and each is followed with its own', async () => {
    const versions = ['2024-07-01-preview', '2025-04-01-preview'];
    const { endpoint, simulator } = stage;
    const clients = versions.map(
      (apiVersion) => new AzureOpenAI({ apiKey, endpoint, apiVersion, maxRetries: 0 }),
    );
    const answers = await batchify(
      () => Promise.all(clients.map((client) => ask(client, 'one', online))),
      stage.options(),
    );
    expect(new Set(answers).size).toBe(2);
    expect(simulator.batches()).toHaveLength(2);
    for (const one of versions) {
      const asked = simulator.requests.filter(({ query }) => query.includes(one));
      const ids = asked.flatMap(({ path }) => /\/batches\/([^/]+)/.exec(path)?.[1] ?? []);
      expect(new Set(ids).size).toBe(1);
      expect(asked.filter(({ method }) => method === 'POST')).toHaveLength(2);
    }
  });
});
