import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { type Attempt, destroyedSocket, waysToGiveUp } from '../../support/clients/give-up.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const patience = 20;
const long = 60_000;

/** Gives up four times; the last attempt is patient, and the batch ends during it. */
async function fiveAttempts(
  attempt: Attempt,
  options: BatchifyOptions,
  sending: (scope: BatchingContext) => typeof fetch,
): Promise<unknown> {
  const { simulator } = stage;
  simulator.hold();
  const scope = batchify(stage.options(options));
  const send = sending(scope);
  const once = (wait: number) => scope.run(() => attempt(chatUrl(stage), wait, send));
  for (let tries = 1; tries < 5; tries += 1) {
    await expect(soon(once(patience))).rejects.toThrow();
    // Two give up at an early moment, and two while the batch is under way.
    if (tries === 2) await until(() => simulator.batches().length > 0, 'the batch');
  }
  const last = once(long);
  await scope.flush();
  simulator.release();
  const answer = await soon(last);
  await scope.close();
  return answer;
}

const answer = { choices: [{ message: { content: expect.stringContaining('"impatient"') } }] };

describe('a client that gives up and tries again five times pays once', () => {
  it.each([...waysToGiveUp, destroyedSocket])('by %s', async (_name, attempt) => {
    expect(await fiveAttempts(attempt, {}, () => fetch)).toMatchObject(answer);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it.each(waysToGiveUp)('by %s, with hooks: false', async (_name, attempt) => {
    const options = { hooks: false };
    expect(await fiveAttempts(attempt, options, (scope) => scope.fetch)).toMatchObject(answer);
    expect(stage.simulator.meter.total).toBe(1);
  });
});

function inTimer(work: () => void): Promise<void> {
  return new Promise((resolve) =>
    setTimeout(() => {
      work();
      resolve();
    }, patience),
  );
}

/** Asks by a client whose timer has aborted when this resolves, with what it would still get. */
async function giveUp(scope: BatchingContext): Promise<{ readonly asked: Promise<Response> }> {
  const controller = new AbortController();
  const { signal } = controller;
  const asked = scope.run(() => fetch(chatUrl(stage), { ...chatRequest('impatient'), signal }));
  await until(() => scope.stats.captured > 0, 'the call');
  await inTimer(() => controller.abort());
  return { asked };
}

function askAgain(scope: BatchingContext): Promise<Response> {
  return scope.run(() => fetch(chatUrl(stage), chatRequest('impatient')));
}

describe('what a client gave up', () => {
  it('is re-joined hours later, while the request is under way', async () => {
    const { simulator } = stage;
    simulator.hold();
    const { clock, skipHours } = patientClock();
    const scope = batchify(stage.options({ clock }));
    await giveUp(scope);
    await until(() => simulator.batches().length === 1, 'the batch');
    skipHours(3);
    const again = askAgain(scope);
    await scope.flush();
    simulator.release();
    expect((await soon(again)).status).toBe(200);
    await scope.close();
    expect(simulator.meter.total).toBe(1);
  });

  it('is re-joined after it was answered, if that client has not read the answer', async () => {
    stage.simulator.hold();
    const { clock, skipHours } = patientClock();
    const scope = batchify(stage.options({ clock }));
    await giveUp(scope);
    stage.simulator.release();
    await until(() => scope.stats.answered === 1, 'the answer');
    skipHours(3);
    const again = await soon(askAgain(scope));
    expect(again.headers.get('x-batchling-source')).toBe('ledger');
    await scope.close();
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('is re-joined after it was answered, if only a copy of the answer was read, for a log', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options());
    const { asked } = await giveUp(scope);
    stage.simulator.release();
    const logged = await (await soon(asked)).clone().text();
    const again = await soon(askAgain(scope));
    expect(again.headers.get('x-batchling-source')).toBe('ledger');
    expect(await again.text()).toBe(logged);
    await scope.close();
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('is re-joined in another scope, if its own ended with the error', async () => {
    const { simulator } = stage;
    simulator.hold();
    const options = stage.options();
    const failing = batchify(async () => {
      const controller = new AbortController();
      const { signal } = controller;
      fetch(chatUrl(stage), { ...chatRequest('impatient'), signal }).catch(() => undefined);
      await until(() => simulator.batches().length === 1, 'the batch');
      await inTimer(() => controller.abort());
      throw new Error('timed out');
    }, options);
    await expect(soon(failing)).rejects.toThrow('timed out');
    simulator.release();
    const again = await soon(
      batchify(() => fetch(chatUrl(stage), chatRequest('impatient')), options),
    );
    expect(again.status).toBe(200);
    expect(simulator.meter.total).toBe(1);
  });

  it('is another sample for whoever asks next, once that client has read it', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options());
    const { asked } = await giveUp(scope);
    stage.simulator.release();
    const first = await (await soon(asked)).text();
    const second = await (await soon(askAgain(scope))).text();
    expect(second).not.toBe(first);
    await scope.close();
    expect(stage.simulator.meter.total).toBe(2);
  });
});
