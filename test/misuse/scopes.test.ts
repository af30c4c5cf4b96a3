import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, BatchlingError, batchify, type Duration } from '../../src/index.ts';
import { chatRequest } from '../support/ask.ts';
import { chatUrl, sourceOf } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { soon } from '../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function thrownBy(work: () => unknown): BatchlingError {
  try {
    work();
  } catch (error) {
    if (BatchlingError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a bad option', () => {
  const bad = { window: '5 parsecs' } as unknown as BatchifyOptions;

  it('is thrown synchronously by both forms, and the function does not run', () => {
    let ran = false;
    const run = () => {
      ran = true;
    };
    expect(thrownBy(() => batchify(bad)).code).toBe('INVALID_OPTION');
    expect(thrownBy(() => batchify(run, bad)).code).toBe('INVALID_OPTION');
    expect(ran).toBe(false);
  });

  it('is thrown for what is no options object', () => {
    for (const value of [null, 'window', 5, []]) {
      expect(thrownBy(() => batchify(value as never)).code).toBe('INVALID_OPTION');
    }
  });
});

describe('what batchify cannot run', () => {
  const given = (value: unknown, options?: BatchifyOptions) =>
    thrownBy(() => batchify(value as never, options));

  it('is a promise: its calls were made before there was a scope', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    const error = given(Promise.all([Promise.reject(new Error('its own error'))]), {});
    expect(error.code).toBe('INVALID_OPTION');
    expect(error.message).toBe(
      'batchify was given a promise, whose calls were made before there was a scope. ' +
        'Pass a function: batchify(() => …, options), or options alone.',
    );
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });

  it('is a thenable, which is not started', () => {
    let started = false;
    const lazy = {
      // biome-ignore lint/suspicious/noThenProperty: as query builders have it.
      then: () => {
        started = true;
      },
    };
    expect(given(lazy).message).toContain('Pass a function: batchify(() => …');
    expect(started).toBe(false);
  });

  it.each([
    ['an array', []],
    ['"text"', 'text'],
    ['null', null],
    ['options twice', { window: '1s' }],
  ])('is %s', (shown, value) => {
    const error = given(value, { window: '2s' });
    expect(error.code).toBe('INVALID_OPTION');
    expect(error.message).toContain(`batchify was given ${shown}. Pass a function`);
  });

  it('is nothing, but its options are used', () => {
    expect(thrownBy(() => batchify(undefined, { window: '5 parsecs' as Duration })).code).toBe(
      'INVALID_OPTION',
    );
    expect(batchify(undefined, stage.options())).toHaveProperty('stats');
  });
});

describe('a closed scope', () => {
  it('runs nothing any more and says so', async () => {
    const scope = batchify(stage.options());
    await scope.close();
    let ran = false;
    const error = thrownBy(() =>
      scope.run(() => {
        ran = true;
      }),
    );
    expect(error.code).toBe('SCOPE_CLOSED');
    expect(error.message).toBe('The scope is closed. Open a new one with batchify().');
    expect(ran).toBe(false);
  });

  it('cannot be entered, before or after the await', async () => {
    const scope = batchify(stage.options());
    const entered = await scope.enter();
    await scope.run(() => undefined);
    await scope.close();
    await expect(scope.enter()).rejects.toMatchObject({ code: 'SCOPE_CLOSED' });
    expect(thrownBy(() => entered[Symbol.asyncDispose]).code).toBe('SCOPE_CLOSED');
  });

  it('can be cancelled, flushed, closed and disposed again without an effect', async () => {
    const scope = await batchify(stage.options()).enter();
    const dispose = scope[Symbol.asyncDispose];
    await scope.run(() => sourceOf(stage));
    await dispose();
    await dispose();
    await scope.close();
    await scope.flush();
    await scope.cancel();
    expect(scope.stats.answered).toBe(1);
  });
});

describe('closing from inside', () => {
  it('does not wait for the function that closes', async () => {
    const scope = batchify(stage.options({ window: '1h', maxWindow: '1h' }));
    const source = scope.run(async () => {
      const asked = sourceOf(stage);
      await scope.close();
      return asked;
    });
    expect(await soon(source)).toBe('batch');
  });
});

describe('a call that cannot be batched', () => {
  const streamed = () => ({
    ...chatRequest('x'),
    body: JSON.stringify({ model: 'gpt-test', background: true, input: 'hello' }),
  });
  const responsesUrl = () => `${stage.simulator.baseUrl('openai')}/responses`;

  it('goes out at full price and is reported with its reason', async () => {
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const events: unknown[] = [];
    scope.on('call:bypassed', (event) => events.push(event));
    const response = await scope.run(() => fetch(responsesUrl(), streamed()));
    await scope.close();
    expect(response.status).toBe(200);
    expect(response.headers.has('x-batchling-source')).toBe(false);
    expect(events).toEqual([
      {
        url: responsesUrl(),
        reason: 'background responses are asynchronous already',
        sent: true,
      },
    ]);
    expect(scope.stats).toMatchObject({ bypassed: 1, captured: 0 });
    expect(stage.simulator.meter.realtime).toBe(1);
  });

  it("is refused in the provider's shape where bypass is an error", async () => {
    const options = stage.options({ bypass: 'error' });
    const response = await batchify(() => fetch(responsesUrl(), streamed()), options);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_unsupported' } });
    expect(stage.simulator.requests).toEqual([]);
  });

  it('is one whose body is no JSON object', async () => {
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    const response = await scope.run(() =>
      fetch(chatUrl(stage), { ...chatRequest('x'), body: 'not json' }),
    );
    await scope.close();
    expect(response.status).toBe(400);
    expect(scope.stats.bypassed).toBe(1);
  });
});

describe('a ledger that cannot be used', () => {
  it('answers the callers with an error instead of paying', async () => {
    const store = stage.newStore();
    const first = batchify(stage.options({ store }));
    await first.run(() => sourceOf(stage));
    await first.close();
    const paid = stage.simulator.meter.total;
    const below = batchify(stage.options({ store: `${store}/below/ledger.db` }));
    const response = await below.run(() => fetch(chatUrl(stage), chatRequest('x')));
    expect(response.status).toBe(500);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { type: 'batchling_store' } });
    await below.close();
    expect(stage.simulator.meter.total).toBe(paid);
  });
});

describe('a scope without a call', () => {
  it('opens no ledger file', async () => {
    const store = stage.newStore();
    const scope = batchify(stage.options({ store }));
    await scope.run(() => fetch(`${stage.simulator.baseUrl('openai')}/models`));
    await scope.flush();
    await scope.cancel();
    await scope.close();
    await batchify(() => 1, stage.options({ store }));
    expect(existsSync(dirname(store))).toBe(false);
  });
});
