import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
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

/** Long enough for every client timeout of these tests to strike. */
async function passTime(milliseconds: number): Promise<void> {
  const begin = performance.now();
  await until(() => performance.now() - begin > milliseconds);
}

function abortable(prompt: string, signal: AbortSignal): Promise<Response> {
  return fetch(chatUrl(stage), { ...chatRequest(prompt), signal });
}

describe("the user's abort", () => {
  it('rejects at once with the reason; a call not yet sent is never sent', async () => {
    const scope = batchify(stage.options(patient));
    const controller = new AbortController();
    const reason = new Error('not needed any more');
    const [aborted, kept] = scope.run(() => [
      abortable('aborted', controller.signal),
      sourceOf(stage, 'kept'),
    ]);
    const outcome = (aborted as Promise<Response>).catch((error: unknown) => error);
    await until(() => scope.stats.captured === 2, 'the calls');
    controller.abort(reason);
    expect(await soon(outcome)).toBe(reason);
    await scope.close();
    expect(await kept).toBe('batch');
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('ends a call that has only just been made', async () => {
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const aborted = scope.run(() => abortable('aborted', controller.signal));
    const outcome = aborted.catch((error: unknown) => error);
    controller.abort();
    expect(await soon(outcome)).toMatchObject({ name: 'AbortError' });
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it('leaves a call that is sent in its batch, and the others go on', async () => {
    const { simulator } = stage;
    simulator.hold();
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const [aborted, kept] = scope.run(() => [
      abortable('aborted', controller.signal),
      sourceOf(stage, 'kept'),
    ]);
    const outcome = (aborted as Promise<Response>).catch((error: unknown) => error);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    controller.abort('enough');
    expect(await soon(outcome)).toBe('enough');
    simulator.release();
    expect(await soon(kept as Promise<string>)).toBe('batch');
    await scope.close();
    expect(simulator.meter.total).toBe(2);
    expect(simulator.countRequests('POST', /cancel$/)).toBe(0);
  });

  it('reaches a Request that carries the signal', async () => {
    const scope = batchify(stage.options(patient));
    const controller = new AbortController();
    const aborted = scope.run(() =>
      fetch(new Request(chatUrl(stage), { ...chatRequest('aborted'), signal: controller.signal })),
    );
    const outcome = aborted.catch((error: unknown) => error);
    await until(() => scope.stats.captured === 1, 'the call');
    controller.abort();
    expect(await soon(outcome)).toMatchObject({ name: 'AbortError' });
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it("raises the SDKs' own error", async () => {
    const scope = batchify(stage.options(patient));
    const { signal, abort } = controls();
    const messages = [{ role: 'user' as const, content: 'aborted' }];
    const outcomes = scope.run(() =>
      Promise.allSettled([
        stage.openai().chat.completions.create({ model: 'gpt-test', messages }, { signal }),
        stage
          .anthropic()
          .messages.create({ model: 'claude-test', max_tokens: 9, messages }, { signal }),
      ]),
    );
    await until(() => scope.stats.captured === 2, 'the calls');
    abort();
    const [openai, anthropic] = await soon(outcomes);
    expect(openai).toMatchObject({ reason: expect.any(OpenAI.APIUserAbortError) });
    expect(anthropic).toMatchObject({ reason: expect.any(Anthropic.APIUserAbortError) });
    await scope.close();
    expect(scope.stats.captured).toBe(2);
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('before the call makes it fail as without batchling', async () => {
    const signal = AbortSignal.abort();
    await batchify(async () => {
      await expect(abortable('never', signal)).rejects.toMatchObject({ name: 'AbortError' });
    }, stage.options());
    expect(stage.simulator.requests).toEqual([]);
  });
});

function controls() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe("a client's deadline", () => {
  it('does not kill a captured call of an SDK, nor is the call made twice', async () => {
    const { simulator } = stage;
    simulator.hold();
    const scope = batchify(stage.options());
    const asked = scope.run(() =>
      Promise.all([
        ask(stage.openai({ timeout: 30 }), 'patience'),
        askClaude(stage.anthropic({ timeout: 30 }), 'patience'),
      ]),
    );
    await until(() => scope.stats.batches.submitted === 2, 'the batches');
    await passTime(60);
    simulator.release();
    for (const answer of await soon(asked)) expect(answer).toContain('answer to "patience"');
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 2, answered: 2 });
    expect(simulator.meter.total).toBe(2);
  });

  it('in a queue does not drop the call', async () => {
    const scope = batchify(stage.options(patient));
    const asked = scope.run(() => ask(stage.openai({ timeout: 20 }), 'patience'));
    await until(() => scope.stats.captured === 1, 'the call');
    await passTime(50);
    await scope.close();
    expect(await asked).toContain('answer to "patience"');
    expect(scope.stats.captured).toBe(1);
  });

  it.each([
    ['AbortSignal.timeout', () => AbortSignal.timeout(20)],
    ['AbortSignal.any around it', () => AbortSignal.any([AbortSignal.timeout(20)])],
    [
      'a timer of its own',
      () => {
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 20);
        return controller.signal;
      },
    ],
  ])('made by %s is ignored while the call is batched', async (_name, makeSignal) => {
    const scope = batchify(stage.options(patient));
    const signal = makeSignal();
    const asked = scope.run(() => abortable('patience', signal));
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(signal.aborted).toBe(false);
    await scope.close();
    expect((await soon(asked)).status).toBe(200);
    expect(stage.simulator.meter.batched).toBe(1);
  });
});
