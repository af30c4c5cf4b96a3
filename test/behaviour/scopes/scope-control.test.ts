import { existsSync } from 'node:fs';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const patient = { window: '1h', maxWindow: '1h' } as const;

describe('flush', () => {
  it('sends what is waiting, without waiting for company', async () => {
    const scope = batchify(stage.options(patient));
    const client = stage.openai();
    const asked = scope.run(() => Promise.all(['a', 'b'].map((prompt) => ask(client, prompt))));
    await until(() => scope.stats.captured === 2, 'the calls');
    await scope.flush();
    expect(await soon(asked)).toHaveLength(2);
    expect(stage.simulator.batches()).toHaveLength(1);
    await scope.close();
  });

  it('covers a call made just before it, even the first of the program', async () => {
    const scope = batchify(stage.options(patient));
    const asked = scope.run(() => sourceOf(stage));
    await scope.flush();
    expect(await soon(asked)).toBe('batch');
    await scope.close();
  });

  it('leaves the calls of other scopes alone', async () => {
    const store = stage.newStore();
    const one = batchify(stage.options({ ...patient, store }));
    const other = batchify(stage.options({ ...patient, store }));
    const mine = one.run(() => sourceOf(stage, 'mine'));
    const theirs = other.run(() => sourceOf(stage, 'theirs'));
    await until(() => one.stats.captured + other.stats.captured === 2, 'the calls');
    await one.flush();
    await soon(mine);
    expect(stage.simulator.meter.total).toBe(1);
    await other.close();
    await theirs;
    await one.close();
  });

  it('does nothing where nothing waits', async () => {
    const store = stage.newStore();
    const scope = batchify(stage.options({ store }));
    await scope.flush();
    await scope.close();
    await scope.flush();
    expect(scope.stats).toMatchObject({ captured: 0, answered: 0, batches: { submitted: 0 } });
    expect(stage.simulator.requests).toEqual([]);
    expect(existsSync(store)).toBe(false);
  });
});

describe('cancel', () => {
  it('answers waiting callers with 499 and cancels their batch at the provider', async () => {
    const { simulator } = stage;
    simulator.hold();
    const scope = batchify(stage.options());
    const asked = scope.run(() => ask(stage.openai(), 'sent'));
    asked.catch(() => undefined);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    const error = await soon(asked.catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ status: 499, type: 'batchling_cancelled' });
    expect(simulator.countRequests('POST', /\/v1\/batches\/.*\/cancel$/)).toBe(1);
    simulator.release();
    await scope.close();
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the cancelled batch');
    expect(simulator.meter.total).toBe(0);
  });

  it('drops what is not sent yet and keeps the scope open', async () => {
    const scope = batchify(stage.options(patient));
    const asked = scope.run(() => fetch(chatUrl(stage), chatRequest('never sent')));
    await scope.cancel();
    const response = await soon(asked);
    expect(response.status).toBe(499);
    expect(response.headers.get('x-should-retry')).toBe('false');
    const later = scope.run(() => sourceOf(stage, 'sent'));
    await scope.close();
    expect(await later).toBe('batch');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('leaves a batch alone in which another scope has a call', async () => {
    const { simulator } = stage;
    simulator.hold();
    const store = stage.newStore();
    const options = stage.options({ store, batchSize: 2, ...patient });
    const one = batchify(options);
    const other = batchify(options);
    const dropped = one.run(() => fetch(chatUrl(stage), chatRequest('one')));
    const kept = other.run(() => sourceOf(stage, 'other'));
    await until(() => one.stats.batches.submitted === 1, 'the shared batch');
    await one.cancel();
    expect((await soon(dropped)).status).toBe(499);
    simulator.release();
    expect(await soon(kept)).toBe('batch');
    expect(simulator.countRequests('POST', /cancel$/)).toBe(0);
    await Promise.all([one.close(), other.close()]);
  });
});

describe('close', () => {
  it('flushes, waits for every answer and gives a second caller the same promise', async () => {
    const scope = batchify(stage.options(patient));
    let answered = false;
    const asked = scope
      .run(() => sourceOf(stage))
      .then(() => {
        answered = true;
      });
    await until(() => scope.stats.captured === 1, 'the call');
    const closing = scope.close();
    expect(scope.close()).toBe(closing);
    await soon(closing);
    await asked;
    expect(answered).toBe(true);
    expect(scope.close()).toBe(closing);
    expect(stage.simulator.meter.batched).toBe(1);
  });
});

describe('events and stats', () => {
  it('are told in order, and not any more after unsubscribing', async () => {
    const scope = batchify(stage.options());
    const told: string[] = [];
    const names = ['call:captured', 'batch:submitted', 'batch:collected', 'call:answered'] as const;
    const unsubscribe = names.map((name) => scope.on(name, () => told.push(name)));
    await scope.run(() => sourceOf(stage, 'heard'));
    await until(() => told.length === 4, 'all events');
    expect([...told].sort()).toEqual([...names].sort());
    expect(told[0]).toBe('call:captured');
    expect(told[1]).toBe('batch:submitted');
    for (const off of unsubscribe) off();
    await scope.run(() => sourceOf(stage, 'unheard'));
    await scope.close();
    expect(told).toHaveLength(4);
  });

  it('carry the facts of the batch', async () => {
    const scope = batchify(stage.options());
    const submitted: unknown[] = [];
    scope.on('batch:submitted', (event) => submitted.push(event));
    await scope.run(() => sourceOf(stage));
    await scope.close();
    expect(submitted).toEqual([
      {
        provider: 'openai',
        endpoint: '/v1/chat/completions',
        model: 'gpt-test',
        batch: expect.stringMatching(/^bl_/),
        remoteId: stage.simulator.batches()[0]?.id,
        count: 1,
      },
    ]);
  });

  it('tell of a create when the ledger has it: a listener may end the process', async () => {
    const scope = batchify(stage.options());
    const heard: string[] = [];
    scope.on('batch:step', ({ step, remoteId }) => heard.push(remoteId ? `${step} known` : step));
    scope.on('batch:submitted', () => heard.push('submitted'));
    await scope.run(() => sourceOf(stage));
    await scope.close();
    expect(heard).toEqual(['upload', 'submitted', 'create known']);
  });

  it('sum up what the scope did', async () => {
    // All three in one batch, whatever the machine does.
    const scope = batchify(stage.options({ window: '1s' }));
    const client = stage.openai();
    const before = scope.stats;
    await scope.run(() =>
      Promise.allSettled(['a', '[[status 400]]', '[[once missing]]'].map((p) => ask(client, p))),
    );
    await scope.close();
    expect(before.captured).toBe(0);
    const { executions } = stage.simulator.meter;
    const sum = (name: 'inputTokens' | 'outputTokens') =>
      executions.reduce((total, execution) => total + execution[name], 0);
    expect(scope.stats).toMatchObject({
      captured: 3,
      answered: 3,
      failed: 1,
      retried: 1,
      fromLedger: 0,
      realtime: 0,
      bypassed: 0,
      tokens: {
        input: sum('inputTokens'),
        output: sum('outputTokens'),
        cacheRead: 0,
        cacheWrite: 0,
      },
    });
    expect(scope.stats.batches).toMatchObject({ submitted: 2, ended: 2, collected: 2 });
  });
});

describe('the option signal', () => {
  it('drops unsent calls, rejects callers with the reason and closes the scope', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const scope = batchify(stage.options({ ...patient, signal: controller.signal }));
    const asked = scope.run(() => sourceOf(stage));
    const outcome = asked.catch((error: unknown) => error);
    await until(() => scope.stats.captured === 1, 'the call');
    controller.abort(reason);
    expect(await soon(outcome)).toBe(reason);
    expect(() => scope.run(() => 1)).toThrow('The scope is closed');
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it('makes batchify reject with the reason and leaves batches at the provider', async () => {
    const { simulator } = stage;
    simulator.hold();
    const controller = new AbortController();
    const reason = new Error('enough');
    const asked = batchify(
      () => fetch(chatUrl(stage), chatRequest('sent')),
      stage.options({ signal: controller.signal }),
    );
    const outcome = asked.catch((error: unknown) => error);
    await until(() => simulator.batches().length === 1, 'the batch');
    controller.abort(reason);
    expect(await soon(outcome)).toBe(reason);
    simulator.release();
    await until(() => simulator.batches()[0]?.ending === 'completed', 'the end of the batch');
    expect(simulator.countRequests('POST', /cancel$/)).toBe(0);
  });

  it('sends nothing when it was aborted before', async () => {
    const reason = new Error('too late');
    const signal = AbortSignal.abort(reason);
    const asked = batchify(() => sourceOf(stage), stage.options({ signal }));
    await expect(soon(asked)).rejects.toBe(reason);
    expect(stage.simulator.requests).toEqual([]);
  });
});
