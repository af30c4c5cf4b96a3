import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

it('with hooks: false only scope.fetch captures, although the package wraps fetch', async () => {
  const before = globalThis.fetch;
  const scope = batchify(stage.options({ hooks: false }));
  expect(await sourceOf(stage, 'bare', scope.fetch)).toBe('batch');
  expect(await scope.run(() => sourceOf(stage, 'global'))).toBe('plain');
  expect(globalThis.fetch).toBe(before);
  await scope.close();
});

it('with hooks: false the scope around still captures what the global fetch sends', async () => {
  const outer = batchify(stage.options());
  await outer.run(async () => {
    const inner = batchify({ hooks: false });
    expect(await inner.run(() => sourceOf(stage))).toBe('batch');
    expect(inner.stats.captured).toBe(0);
    await inner.close();
  });
  expect(outer.stats.captured).toBe(1);
  await outer.close();
});

it('scope.fetch captures for its own scope, wherever it is called', async () => {
  const own = batchify(stage.options());
  const around = batchify(stage.options());
  expect(await around.run(() => sourceOf(stage, 'own', own.fetch))).toBe('batch');
  expect(own.stats.captured).toBe(1);
  expect(around.stats.captured).toBe(0);
  await Promise.all([own.close(), around.close()]);
});
