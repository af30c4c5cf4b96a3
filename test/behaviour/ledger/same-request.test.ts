import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let scope: BatchingContext;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const same = { 'idempotency-key': 'same' };

/** Asks for the same request as anyone else who asks this. */
function askTheSame(signal?: AbortSignal): Promise<Response> {
  const init = { ...chatRequest('the same', same), ...(signal && { signal }) };
  return scope.run(() => fetch(chatUrl(stage), init));
}

const captured = (count: number) =>
  until(() => scope.stats.captured === count, `the capture of ${count}`);

describe('two callers of one request', () => {
  it('get the same answer, which is paid once', async () => {
    scope = batchify(stage.options());
    const responses = await Promise.all([askTheSame(), askTheSame()]);
    const [first, second] = await Promise.all(responses.map((response) => response.text()));
    expect(second).toBe(first);
    expect(stage.simulator.meter.total).toBe(1);
    const { prompt_tokens: input, completion_tokens: output } = JSON.parse(first ?? '').usage;
    expect(scope.stats).toMatchObject({ answered: 2, tokens: { input, output } });
    await scope.close();
  });

  it('count once in the sums of their scope', async () => {
    stage.simulator.hold();
    scope = batchify(stage.options());
    const asked = [askTheSame(), askTheSame()];
    await captured(2);
    await until(() => stage.simulator.batches().length === 1, 'the batch');
    stage.simulator.release();
    await Promise.all(asked);
    await scope.close();
    const [execution] = stage.simulator.meter.executions;
    const { answered, tokens } = scope.stats;
    expect({ answered, input: tokens.input, output: tokens.output }).toEqual({
      answered: 2,
      input: execution?.inputTokens,
      output: execution?.outputTokens,
    });
  });

  it('do not end with each other: the second aborts while the batch is under way', async () => {
    stage.simulator.hold();
    scope = batchify(stage.options());
    const gone = new AbortController();
    const first = askTheSame();
    await until(() => stage.simulator.batches().length === 1, 'the batch');
    const second = askTheSame(gone.signal);
    await captured(2);
    gone.abort();
    await expect(second).rejects.toThrow();
    stage.simulator.release();
    expect((await first).status).toBe(200);
    await scope.close();
  });

  it.each(['first', 'second'])(
    'do not end with each other: the %s aborts before the request is sent',
    async (who) => {
      scope = batchify(stage.options({ window: '50s', maxWindow: '55s' }));
      const gone = new AbortController();
      const [firstSignal, secondSignal] =
        who === 'first' ? [gone.signal] : [undefined, gone.signal];
      const first = askTheSame(firstSignal);
      const other = scope.run(() => fetch(chatUrl(stage), chatRequest('another')));
      await captured(2);
      const second = askTheSame(secondSignal);
      await captured(3);
      gone.abort();
      const [leaving, staying] = who === 'first' ? [first, second] : [second, first];
      await expect(leaving).rejects.toThrow();
      const closed = scope.close();
      expect((await staying).status).toBe(200);
      expect((await other).status).toBe(200);
      await closed;
      expect(stage.simulator.meter.total).toBe(2);
    },
  );
});

it('a scope that is cancelled while a batch is planned leaves the other scope alone', async () => {
  const shared = stage.options({ window: '50s', maxWindow: '55s', batchSize: 600 });
  const [cancelled, other] = [batchify(shared), batchify(shared)] as const;
  const ask = (name: string) => fetch(chatUrl(stage), chatRequest(name));
  const asked = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(`${name} ${index}`)));
  const dropped = cancelled.run(() => asked(300, 'dropped'));
  await until(() => cancelled.stats.captured === 300, 'the calls of the first');
  const flushed = new Promise((resolve) => other.on('queue:flushed', resolve));
  const kept = other.run(() => asked(300, 'kept'));
  await flushed;
  await cancelled.cancel();
  const statuses = async (responses: Promise<Response[]>) =>
    new Set((await responses).map(({ status }) => status));
  expect(await statuses(kept)).toEqual(new Set([200]));
  expect(await statuses(dropped)).toEqual(new Set([499]));
  await Promise.all([cancelled.close(), other.close()]);
});

it('an abort while a large batch is planned ends no other call', async () => {
  scope = batchify(stage.options({ batchSize: 6_000, window: '50s', maxWindow: '55s' }));
  const gone = new AbortController();
  const ask = (index: number) => {
    const signal = index === 3_000 ? { signal: gone.signal } : {};
    const init = { ...chatRequest(`question ${index}`), ...signal };
    return fetch(chatUrl(stage), init).then(({ status }) => status);
  };
  const flushed = new Promise<void>((resolve) => scope.on('queue:flushed', () => resolve()));
  const asked = scope.run(() =>
    Promise.allSettled(Array.from({ length: 6_000 }, (_, index) => ask(index))),
  );
  await flushed;
  await new Promise(setImmediate);
  gone.abort();
  const outcomes = await asked;
  await scope.close();
  const answered = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  expect(new Set(answered.map(({ value }) => value))).toEqual(new Set([200]));
  expect(answered).toHaveLength(5_999);
});

describe('a client that loses patience', () => {
  it('while its request is being stored is remembered: its retry waits for the same sample', async () => {
    const patience = 50;
    let spinUntil = 0;
    const clock = {
      now: () => {
        while (performance.now() < spinUntil);
        return Date.now();
      },
      setTimeout,
      clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
    };
    scope = batchify(stage.options({ store: ':memory:', clock }));
    const askFor = (prompt: string, init: RequestInit = {}) =>
      scope.run(() => fetch(chatUrl(stage), { ...chatRequest(prompt), ...init }));
    await askFor('what loads the engine');
    stage.simulator.hold();
    // Its time is up on the way to the ledger, before the event loop turns again.
    const off = scope.on('call:captured', () => {
      off();
      spinUntil = performance.now() + 2 * patience;
    });
    const first = askFor('impatient', { signal: AbortSignal.timeout(patience) });
    first.catch(() => undefined);
    await until(() => spinUntil > 0 && performance.now() > spinUntil, 'the end of its time');
    const retry = askFor('impatient');
    await captured(3);
    stage.simulator.release();
    expect((await retry).status).toBe(200);
    await scope.close();
    expect(stage.simulator.meter.total).toBe(2);
  });
});
