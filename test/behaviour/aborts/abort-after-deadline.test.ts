import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { ask, chatRequest } from '../../support/ask.ts';
import { hastyClock } from '../../support/clocks/hasty-clock.ts';
import { type HoldingServer, startHoldingServer } from '../../support/servers/holding-server.ts';
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

const patience = 10;

function open(scope: BatchingContext, signal: AbortSignal): Promise<unknown> {
  const asked = scope.run(() => fetch(chatUrl(stage), { ...chatRequest('aborted'), signal }));
  return asked.catch((error: unknown) => error);
}

function inTimer(work: () => void): Promise<void> {
  return new Promise((resolve) =>
    setTimeout(() => {
      work();
      resolve();
    }, patience),
  );
}

describe("the user's abort cancels at once after a timer's was deferred", () => {
  it('by the same controller', async () => {
    const scope = batchify(stage.options({ window: '1h', maxWindow: '1h' }));
    const controller = new AbortController();
    const { signal } = controller;
    const outcome = open(scope, signal);
    await until(() => scope.stats.captured === 1, 'the call');
    await inTimer(() => controller.abort());
    expect(signal.aborted).toBe(false);
    controller.abort('enough');
    expect(await soon(outcome)).toBe('enough');
    expect(signal.reason).toBe('enough');
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it.each([true, false])('by a signal joined to the timeout, with hooks: %s', async (hooks) => {
    const scope = batchify(stage.options({ window: '1h', maxWindow: '1h', hooks }));
    const user = new AbortController();
    const signal = AbortSignal.any([user.signal, AbortSignal.timeout(patience)]);
    const struck = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const asked = scope.fetch(chatUrl(stage), { ...chatRequest('aborted'), signal });
    const outcome = asked.catch((error: unknown) => error);
    await until(() => scope.stats.captured === 1, 'the call');
    await struck;
    await new Promise(setImmediate);
    expect(signal.aborted).toBe(false);
    user.abort('enough');
    expect(await soon(outcome)).toBe('enough');
    expect(signal.aborted).toBe(true);
    await scope.close();
    expect(stage.simulator.requests).toEqual([]);
  });

  it('also for a call that came after the timer', async () => {
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const { signal } = controller;
    const first = open(scope, signal);
    await until(() => scope.stats.captured === 1, 'the call');
    await inTimer(() => controller.abort());
    const later = open(scope, signal);
    controller.abort('enough');
    expect(await soon(Promise.all([first, later]))).toEqual(['enough', 'enough']);
    stage.simulator.release();
    await scope.close();
  });

  it('and a call that came after the timer ends with its scope', async () => {
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const { signal } = controller;
    const first = open(scope, signal);
    await until(() => scope.stats.captured === 1, 'the call');
    await inTimer(() => controller.abort());
    const later = open(scope, signal);
    await scope.cancel();
    const outcomes = (await soon(Promise.all([first, later]))) as Response[];
    expect(outcomes.map(({ status }) => status)).toEqual([499, 499]);
    await scope.close();
  });
});

describe('a timer of the user that reaches the client from far away is a cancel', () => {
  function follower(signal: AbortSignal): AbortController {
    const own = new AbortController();
    signal.addEventListener('abort', () => own.abort(signal.reason));
    return own;
  }

  // As openai 6 does. A client that joins the user's signal to its own (openai 7) is straight below the timer.
  it.each([
    ['of fetch', (init: RequestInit) => fetch(chatUrl(stage), init)],
    ['of a Request', (init: RequestInit) => fetch(new Request(chatUrl(stage), init))],
  ])('through a controller of the client that follows it, the signal %s', async (_, send) => {
    const scope = batchify(stage.options());
    const user = new AbortController();
    const { signal } = follower(user.signal);
    const init = { ...chatRequest('far'), signal };
    const outcome = scope.run(() => send(init)).catch((error: unknown) => error);
    await until(() => stage.simulator.batches().length === 1, 'the batch');
    await inTimer(() => user.abort('enough'));
    expect(await soon(outcome)).toBe('enough');
    stage.simulator.release();
    await scope.close();
  });

  it("while the SDK's own timer is none", async () => {
    const scope = batchify(stage.options());
    const asked = scope.run(() => ask(stage.openai({ timeout: patience }), 'patient'));
    await until(() => stage.simulator.batches().length === 1, 'the batch');
    await sleep(3 * patience);
    stage.simulator.release();
    expect(await soon(asked)).toContain('answer to "patient"');
    await scope.close();
  });
});

describe('a call that goes out as an ordinary one after its time is over', () => {
  let server: HoldingServer;

  async function overdue() {
    server = await startHoldingServer();
    const hosts = { [server.baseUrl]: 'openai' } as const;
    // A body that was read in pieces may still be handed on.
    const { clock, pass, isWaitedFor } = hastyClock(10_000);
    const more = { hosts, minBatch: 2, window: '1h', maxWindow: '1h', clock } as const;
    const scope = batchify(stage.options(more));
    const user = new AbortController();
    const signal = AbortSignal.any([user.signal, AbortSignal.timeout(patience)]);
    const struck = new Promise((resolve) => signal.addEventListener('abort', resolve));
    const url = `${server.baseUrl}/chat/completions`;
    const asked = scope.run(() => fetch(url, { ...chatRequest('alone'), signal }));
    asked.catch(() => undefined);
    await until(() => scope.stats.captured === 1, 'the call');
    await struck;
    await scope.flush();
    await until(() => server.held.length === 1, 'the call at the provider');
    return { scope, signal, user, asked, pass, isWaitedFor };
  }

  it('is answered, and the abort comes when that is read', async () => {
    const { scope, signal, asked, pass, isWaitedFor } = await overdue();
    server.answer();
    const response = await soon(asked);
    expect(response.headers.get('x-batchling-source')).toBe('realtime');
    expect(signal.aborted).toBe(false);
    expect(await response.json()).toEqual({ object: 'chat.completion' });
    expect(signal.aborted).toBe(false);
    await until(isWaitedFor, 'the timer');
    pass();
    expect(signal.aborted).toBe(true);
    await scope.close();
    await server.close();
  });

  it('is aborted by its user at once', async () => {
    const { scope, user, asked } = await overdue();
    const outcome = asked.catch((error: unknown) => error);
    user.abort('enough');
    expect(await soon(outcome)).toBe('enough');
    await scope.close();
    await server.close();
  });
});
