import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { limits } from '../../support/limits.ts';
import { type HoldingServer, startHoldingServer } from '../../support/servers/holding-server.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;
let other: HoldingServer;
let scope: BatchingContext;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(async () => {
  stage.simulator.reset();
  stage.simulator.hold();
  other = await startHoldingServer();
  scope = batchify(stage.options());
});
afterEach(async () => {
  stage.simulator.release();
  await scope.close();
  await other.close();
});

function askCaptured(signal: AbortSignal): Promise<Response> {
  return scope.run(() => fetch(chatUrl(stage), { ...chatRequest('captured'), signal }));
}

function errorOf(asked: Promise<Response>): Promise<unknown> {
  return asked.then(
    () => 'answered',
    (error: unknown) => error,
  );
}

/** A call that is not captured, inside of the scope or outside of it. */
const others: readonly [where: string, ask: (signal: AbortSignal) => Promise<Response>][] = [
  ['outside of the scope', (signal) => fetch(other.baseUrl, { signal })],
  ['inside of the scope', (signal) => scope.run(() => fetch(other.baseUrl, { signal }))],
];

const cases = others.flatMap(([where, ask]) =>
  limits.map(([name, start]) => [where, name, ask, start] as const),
);

describe('a call that is not captured', () => {
  it.each(cases)('%s hears of %s at once, though it shares it', async (_w, _n, ask, start) => {
    const limit = start();
    const outside = errorOf(ask(limit.signal));
    const captured = askCaptured(limit.signal);
    expect(await soon(outside)).toMatchObject({ name: limit.errorName });
    stage.simulator.release();
    expect((await soon(captured)).status).toBe(200);
  });

  it.each(cases)('%s hears of %s at once, though it comes later', async (_w, _n, ask, start) => {
    const limit = start();
    const captured = askCaptured(limit.signal);
    const outside = errorOf(ask(limit.signal));
    expect(await soon(outside)).toMatchObject({ name: limit.errorName });
    stage.simulator.release();
    expect((await soon(captured)).status).toBe(200);
  });

  it.each(cases)('%s does not go out when %s is over', async (_w, _n, ask, start) => {
    const limit = start();
    const captured = askCaptured(limit.signal);
    await limit.struck;
    await new Promise(setImmediate);
    expect(await soon(errorOf(ask(limit.signal)))).toMatchObject({ name: limit.errorName });
    expect(limit.signal.aborted).toBe(false);
    expect(other.seen).toBe(0);
    stage.simulator.release();
    expect((await soon(captured)).status).toBe(200);
  });
});

it('a captured call that follows a held-back signal outlives it, too', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const patient = batchify(stage.options({ window: '1h', maxWindow: '1h' }));
  const direct = askCaptured(signal);
  const joined = AbortSignal.any([signal]);
  const following = patient.run(() =>
    fetch(chatUrl(stage), { ...chatRequest('following'), signal: joined }),
  );
  following.catch(() => undefined);
  await until(() => scope.stats.captured + patient.stats.captured === 2, 'the calls');
  await new Promise<void>((resolve) =>
    setTimeout(() => {
      controller.abort();
      resolve();
    }, 1),
  );
  stage.simulator.release();
  await (await soon(direct)).text();
  await until(() => signal.aborted, 'the abort');
  await patient.close();
  expect((await soon(following)).status).toBe(200);
});

it('a timer that aborts the signal of a scope ends the scope at once, whoever shares it', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const limited = batchify(stage.options({ signal }));
  const asked = limited.run(() => fetch(chatUrl(stage), { ...chatRequest('never'), signal }));
  setTimeout(() => controller.abort(), 1);
  expect(await soon(errorOf(asked))).toMatchObject({ name: 'AbortError' });
  expect(signal.aborted).toBe(true);
});
