import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify, realtime } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

type Fetch = typeof fetch;

let stage: Stage;
const wrapper = globalThis.fetch;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());
afterEach(() => {
  globalThis.fetch = wrapper;
});

/** Another library that wraps what it finds, as tracing libraries do. */
function patchLater(): { seen: string[] } {
  const below = globalThis.fetch;
  const seen: string[] = [];
  const later: Fetch = (input, init) => {
    seen.push(String(input));
    return below(input, init);
  };
  globalThis.fetch = later;
  return { seen };
}

/** Another library that puts back the fetch it found before batchling was loaded. */
function patchAway(): void {
  const own = Object.getOwnPropertySymbols(wrapper).map((symbol) => Reflect.get(wrapper, symbol));
  const original = own.find((value) => typeof value === 'function') as Fetch;
  globalThis.fetch = (input, init) => original(input, init);
}

describe('a library that wraps fetch after batchling', () => {
  it('does not make a call be captured twice', async () => {
    patchLater();
    const scope = batchify(stage.options());
    expect(await scope.run(() => sourceOf(stage))).toBe('batch');
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1 });
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('still sees what is not captured', async () => {
    const { seen } = patchLater();
    const url = `${stage.simulator.baseUrl('openai')}/models`;
    await batchify(() => fetch(url), stage.options());
    expect(seen).toEqual([url]);
  });

  it('does not undo the header that lets a call go out as an ordinary one', async () => {
    patchLater();
    const scope = batchify(stage.options());
    const response = await scope.run(() =>
      fetch(chatUrl(stage), chatRequest('off', { 'x-batchling': 'off' })),
    );
    await scope.close();
    expect(response.headers.get('x-batchling-source')).toBeNull();
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });

  it('does not undo realtime', async () => {
    patchLater();
    const source = await batchify(() => realtime(() => sourceOf(stage)), stage.options());
    expect(source).toBe('plain');
  });

  it('does not undo the choice of what to batch', async () => {
    patchLater();
    const options = stage.options({ only: 'anthropic' });
    expect(await batchify(() => sourceOf(stage), options)).toBe('plain');
    expect(stage.simulator.meter.batched).toBe(0);
  });

  it('does not make a bypass be reported twice', async () => {
    patchLater();
    const scope = batchify(stage.options({ bypass: 'ignore' }));
    await scope.run(() => fetch(chatUrl(stage), { ...chatRequest('x'), body: 'no json' }));
    await scope.close();
    expect(scope.stats.bypassed).toBe(1);
  });
});

describe('a library that puts another fetch in place', () => {
  it('is found when a scope is opened', async () => {
    patchAway();
    expect(await sourceOf(stage)).toBe('plain');
    expect(await batchify(() => sourceOf(stage), stage.options())).toBe('batch');
  });

  it('is found when a scope made before is entered', async () => {
    const scope = batchify(stage.options());
    patchAway();
    expect(await scope.run(() => sourceOf(stage))).toBe('batch');
    await scope.close();
  });

  it('is found when such a scope is entered by await using', async () => {
    const scope = await batchify(stage.options()).enter();
    patchAway();
    const dispose = scope[Symbol.asyncDispose];
    expect(await sourceOf(stage)).toBe('batch');
    await dispose();
  });
});
