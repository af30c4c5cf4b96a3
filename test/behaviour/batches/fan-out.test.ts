import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Answer,
  type Call,
  type Match,
  OpenAIBatcher,
  openaiInfo,
  type Route,
} from '../../../src/batchers/index.ts';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await stage.close();
});

/** A service whose chat calls may hold several questions; each of them is a request of its own. */
class ManyBatcher extends OpenAIBatcher {
  override readonly info = { ...openaiInfo, name: 'many' };

  override match(call: Call): Match {
    const { questions, ...rest } = call.json as { questions?: readonly string[] };
    if (questions === undefined) return super.match(call);
    const parts = questions.map((content) => {
      const body = JSON.stringify({ ...rest, messages: [{ role: 'user', content }] });
      return super.match({ ...call, body, json: JSON.parse(body) }) as Route;
    });
    return { parts, join };
  }
}

function join(answers: readonly Answer[]): Answer {
  const bodies = answers.map(({ body }) => JSON.parse(body) as { choices: [{ message: object }] });
  const body = JSON.stringify({ answers: bodies.map(({ choices }) => choices[0].message) });
  return { ...(answers[0] as Answer), body };
}

function options(given: BatchifyOptions = {}): BatchifyOptions {
  const hosts = { [stage.simulator.baseUrl('openai')]: 'many' } as const;
  return stage.options({ batchers: [ManyBatcher], ...given, hosts });
}

function ask(questions: readonly string[], signal?: AbortSignal): Promise<Response> {
  return fetch(`${stage.simulator.baseUrl('openai')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
    body: JSON.stringify({ model: 'gpt-test', questions }),
    ...(signal && { signal }),
  });
}

describe('a call that needs several requests', () => {
  it('gets one answer, joined in the order of its parts, and counts as one call', async () => {
    const scope = batchify(options());
    const answered: unknown[] = [];
    scope.on('call:answered', ({ inputTokens }) => answered.push(inputTokens));
    const response = await scope.run(() => ask(['one', 'two', 'three']));
    const { answers } = (await response.json()) as { answers: readonly { content: string }[] };
    expect(answers.map(({ content }) => content)).toEqual([
      expect.stringContaining('"one"'),
      expect.stringContaining('"two"'),
      expect.stringContaining('"three"'),
    ]);
    await scope.close();
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, failed: 0 });
    expect(answered).toEqual([expect.any(Number)]);
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('is answered from the ledger by a later run, and nothing is paid again', async () => {
    const store = stage.newStore();
    await batchify(() => ask(['one', 'two']), options({ store }));
    vi.stubEnv('BATCHLING_RUN', 'another-run');
    const response = await batchify(() => ask(['one', 'two']), options({ store }));
    expect(response.headers.get('x-batchling-source')).toBe('ledger');
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('is answered with the error of one of its parts', async () => {
    const scope = batchify(options());
    const used: unknown[] = [];
    scope.on('call:answered', ({ inputTokens }) => used.push(inputTokens));
    const response = await scope.run(() => ask(['good', '[[status 400]] bad']));
    expect(response.status).toBe(400);
    expect(response.headers.get('x-should-retry')).toBe('false');
    await soon(scope.close());
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, failed: 1 });
    // The good part is paid for.
    expect(used).toEqual([expect.any(Number)]);
  });

  it('is never sent when it is aborted before', async () => {
    const scope = batchify(options({ window: '1h', maxWindow: '1h' }));
    const controller = new AbortController();
    const asked = scope.run(() => ask(['one', 'two'], controller.signal));
    asked.catch(() => undefined);
    await until(() => scope.stats.captured > 0, 'the call');
    await scope.run(() => new Promise((resolve) => setImmediate(resolve)));
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await soon(scope.close());
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('goes out as one ordinary call where there are too few requests for a batch', async () => {
    const scope = batchify(options({ minBatch: 5 }));
    const response = await scope.run(() => ask(['one', 'two']));
    expect(response.headers.get('x-batchling-source')).toBe('realtime');
    await soon(scope.close());
    expect(stage.simulator.batches()).toEqual([]);
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, realtime: 1 });
  });

  it('is cancelled as a whole', async () => {
    stage.simulator.hold();
    const scope = batchify(options());
    const asked = scope.run(() => ask(['one', 'two']));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    expect((await soon(asked)).status).toBe(499);
    await soon(scope.close());
    expect(scope.stats).toMatchObject({ captured: 1, answered: 1, failed: 1 });
  });

  it('is told the same error again without paying for any of its parts', async () => {
    const scope = batchify(options({ attempts: 1 }));
    const asked = () => scope.run(() => ask(['good', '[[status 500]] bad']));
    expect((await asked()).status).toBe(500);
    const { total } = stage.simulator.meter;
    expect((await asked()).status).toBe(500);
    await soon(scope.close());
    expect(stage.simulator.meter.total).toBe(total);
  });

  it('has its last part in a batch although that part is alone in its queue', async () => {
    const scope = batchify(options({ batchSize: 2, minBatch: 2 }));
    const response = await scope.run(() => ask(['one', 'two', 'three']));
    expect(response.status).toBe(200);
    expect(response.headers.get('x-batchling-source')).toBe('batch');
    await soon(scope.close());
  });

  it('goes out as a whole when its batch is cancelled at its deadline before any of it ran', async () => {
    stage.simulator.hold();
    const { clock, skipHours } = patientClock();
    const scope = batchify(options({ clock, deadline: '1h', onDeadline: 'realtime' }));
    const asked = scope.run(() => ask(['one', 'two']));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    skipHours(2);
    await until(() => stage.simulator.countRequests('POST', /cancel$/) === 1, 'the cancel');
    stage.simulator.release();
    const response = await soon(asked);
    expect(response.headers.get('x-batchling-source')).toBe('realtime');
    await soon(scope.close());
  });
});
