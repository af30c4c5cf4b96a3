import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resultOf, runProgram } from '../../support/processes/run-program.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const input = (lock: string, register = false) => {
  const { hosts, ...options } = stage.options();
  return { lock, register, url: chatUrl(stage), options: { hosts, ...options } };
};

describe.each([
  ['fetch', 'globalThis.fetch'],
  ['abort', 'AbortController.prototype.abort'],
  ['agent', 'http.Agent.prototype.addRequest'],
])('where %s is locked', (lock, name) => {
  it('an import is fine, a scope with hooks is a clear error, and one without works', async () => {
    const report = await resultOf<Record<string, unknown>>('loading/locked-globals', input(lock));
    expect(report).toMatchObject({
      code: 'GLOBAL_LOCKED',
      message: expect.stringContaining(`${name} is locked`),
      left: [],
      importUndone: true,
      withoutHooks: 'batch',
      warnings: [],
    });
  });

  it('batchling/register says so and lets the program run', async () => {
    const report = await resultOf<Record<string, unknown>>(
      'loading/locked-globals',
      input(lock, true),
    );
    expect(report).toEqual({ plain: 'plain', warnings: [expect.stringContaining(name)] });
    expect(stage.simulator.meter).toMatchObject({ realtime: 1, batched: 0 });
  });
});

it('where a bypass is an error, batchling/register does not start the program', async () => {
  const environment = { BATCHLING_BYPASS: 'error' };
  const { code, stderr } = await runProgram(
    'loading/locked-globals',
    input('fetch', true),
    environment,
  );
  expect(code).toBe(1);
  expect(stderr).toContain('GLOBAL_LOCKED');
  expect(stage.simulator.meter.total).toBe(0);
});
