import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { hastyClock } from '../../support/clocks/hasty-clock.ts';
import { type Limit, limits } from '../../support/limits.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  stage.simulator.hold();
});

function ask(scope: BatchingContext, signal: AbortSignal, prompt = 'late'): Promise<Response> {
  return scope.run(() => fetch(chatUrl(stage), { ...chatRequest(prompt), signal }));
}

/** The next turn of the event loop but one: the abort comes with the next. */
async function turn(): Promise<void> {
  for (let turns = 0; turns < 2; turns += 1) await new Promise(setImmediate);
}

/** Resolves when the timer has fired while all these calls wait. */
async function strike(scope: BatchingContext, limit: Limit, captured = 1): Promise<void> {
  await until(() => scope.stats.captured === captured, 'the calls');
  await limit.struck;
  // The mask comes with the next tick.
  await turn();
}

describe.each(limits)('the abort of %s', (_name, start) => {
  it('is shown only after its call is answered and its client has read the answer', async () => {
    const scope = batchify(stage.options());
    const limit = start();
    const asked = ask(scope, limit.signal);
    await strike(scope, limit);
    expect(limit.signal.aborted).toBe(false);
    expect(limit.signal.reason).toBeUndefined();
    stage.simulator.release();
    const response = await soon(asked);
    expect(limit.signal.aborted).toBe(false);
    await response.json();
    limit.signal.throwIfAborted();
    await turn();
    expect(limit.signal.aborted).toBe(true);
    expect(limit.signal.reason).toMatchObject({ name: limit.errorName });
    await scope.close();
  });

  it('ends a loop on `signal.aborted`, and nothing more is paid for', async () => {
    const scope = batchify(stage.options());
    const limit = start();
    let answers = 0;
    const loop = async () => {
      while (!limit.signal.aborted) {
        await (await ask(scope, limit.signal)).json();
        answers += 1;
      }
    };
    const ended = loop().catch((error: Error) => error.name);
    await strike(scope, limit);
    stage.simulator.release();
    expect([undefined, limit.errorName]).toContain(await soon(ended));
    expect(limit.signal.aborted).toBe(true);
    await scope.close();
    expect(answers).toBe(1);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('ends loops that keep several calls under way and ignore errors', async () => {
    const scope = batchify(stage.options());
    const limit = start();
    const loop = async (name: string) => {
      let count = 0;
      while (!limit.signal.aborted) {
        const asked = ask(scope, limit.signal, `${name} ${count}`);
        await asked.then((response) => response.json()).catch(() => undefined);
        count += 1;
      }
    };
    const ended = Promise.all(['one', 'two', 'three'].map(loop));
    await strike(scope, limit, 3);
    stage.simulator.release();
    await soon(ended);
    await scope.close();
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('is delivered at once when the user aborts the scope', async () => {
    const end = new AbortController();
    const scope = batchify(stage.options({ signal: end.signal }));
    const limit = start();
    const asked = ask(scope, limit.signal).catch((error: unknown) => error);
    await strike(scope, limit);
    end.abort('enough');
    expect(await soon(asked)).toBe('enough');
    await turn();
    expect(limit.signal.aborted).toBe(true);
  });

  it('is delivered a second later if the answer is never read', async () => {
    const { clock, pass, isWaitedFor } = hastyClock(1_000);
    const scope = batchify(stage.options({ clock }));
    const limit = start();
    const asked = ask(scope, limit.signal);
    await strike(scope, limit);
    stage.simulator.release();
    await soon(asked);
    await until(isWaitedFor, 'the timer');
    expect(limit.signal.aborted).toBe(false);
    pass();
    expect(limit.signal.aborted).toBe(true);
    await scope.close();
  });

  it('is delivered ten seconds after a client has read its stream to the end', async () => {
    const { clock, pass, isWaitedFor } = hastyClock(10_000);
    const scope = batchify(stage.options({ clock }));
    const limit = start();
    const asked = ask(scope, limit.signal);
    await strike(scope, limit);
    stage.simulator.release();
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of (await soon(asked)).body as unknown as AsyncIterable<Uint8Array>) {
      await turn();
      expect(isWaitedFor()).toBe(false);
      text += decoder.decode(bytes);
    }
    expect(text).toContain('answer to');
    await until(isWaitedFor, 'the timer');
    expect(limit.signal.aborted).toBe(false);
    pass();
    expect(limit.signal.aborted).toBe(true);
    await scope.close();
  });

  it('makes a later call on the same signal wait for the delivery; that call is never sent', async () => {
    const scope = batchify(stage.options());
    const limit = start();
    const asked = ask(scope, limit.signal);
    await strike(scope, limit);
    const later = ask(scope, limit.signal, 'too late').catch((error: unknown) => error);
    stage.simulator.release();
    await (await soon(asked)).text();
    expect(await soon(later)).toMatchObject({ name: limit.errorName });
    await scope.close();
    expect(scope.stats.captured).toBe(1);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('does not break AbortSignal.any on the same signal', async () => {
    const scope = batchify(stage.options());
    const limit = start();
    const asked = ask(scope, limit.signal);
    await strike(scope, limit);
    expect(AbortSignal.any([limit.signal]).aborted).toBe(false);
    stage.simulator.release();
    await (await soon(asked)).text();
    await turn();
    expect(AbortSignal.any([limit.signal]).aborted).toBe(true);
    await scope.close();
  });
});

it('a timer of a controller is delivered to its listeners, with its reason', async () => {
  const scope = batchify(stage.options());
  const controller = new AbortController();
  const { signal } = controller;
  const heard: unknown[] = [];
  signal.addEventListener('abort', () => heard.push(signal.reason));
  const asked = ask(scope, signal);
  await until(() => scope.stats.captured === 1, 'the call');
  const reason = new Error('too slow');
  await new Promise<void>((resolve) =>
    setTimeout(() => {
      controller.abort(reason);
      resolve();
    }, 1),
  );
  stage.simulator.release();
  await (await soon(asked)).json();
  expect(heard).toEqual([]);
  await turn();
  expect(heard).toEqual([reason]);
  await scope.close();
});

it('waits for the last of the calls that share a signal', async () => {
  const scope = batchify(stage.options({ batchSize: 1, maxInFlight: 2 }));
  const [, start] = limits[0] as (typeof limits)[number];
  const limit = start();
  const asked = ['one', 'two'].map((prompt) => ask(scope, limit.signal, prompt));
  await strike(scope, limit, 2);
  stage.simulator.release();
  const [one, two] = await soon(Promise.all(asked));
  await one?.text();
  await turn();
  expect(limit.signal.aborted).toBe(false);
  await two?.text();
  await turn();
  expect(limit.signal.aborted).toBe(true);
  await scope.close();
});
