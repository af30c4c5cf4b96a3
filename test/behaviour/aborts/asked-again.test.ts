import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const ask = (prompt: string, init: RequestInit = {}) =>
  fetch(chatUrl(stage), { ...chatRequest(prompt), ...init });

describe('what is asked again in the same run', () => {
  it('after its user aborted it in a batch under way, has the answer that is paid already', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const aborted = scope.run(() => ask('twice', { signal: controller.signal }));
    const outcome = aborted.catch((error: unknown) => error);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    controller.abort('enough');
    expect(await outcome).toBe('enough');
    const [again, other] = scope.run(() => [ask('twice'), ask('twice')]);
    await scope.flush();
    stage.simulator.release();
    const texts = await Promise.all([again, other].map(async (one) => (await one)?.text()));
    // One of them is the aborted one's, the other one is another sample.
    expect(new Set(texts).size).toBe(2);
    expect(stage.simulator.meter.total).toBe(2);
    await scope.close();
  });

  it('after its scope threw, has the answer that is paid already', async () => {
    stage.simulator.hold();
    const options = stage.options();
    const thrown = batchify(async () => {
      const asked = [ask('red'), ask('blue')];
      await until(() => stage.simulator.batches().length === 1, 'the batch');
      for (const one of asked) one.catch(() => undefined);
      throw new Error('boom');
    }, options);
    await expect(thrown).rejects.toThrow('boom');
    stage.simulator.release();
    const answers = await batchify(
      () => Promise.all(['red', 'blue'].map((one) => ask(one))),
      options,
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('after the batch was cancelled, is sent again', async () => {
    stage.simulator.hold();
    const options = stage.options();
    const scope = batchify(options);
    const cancelled = scope.run(() => ask('once more'));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    expect((await cancelled).status).toBe(499);
    stage.simulator.release();
    await scope.close();
    const answer = await batchify(() => ask('once more'), options);
    expect(answer.status).toBe(200);
  });

  it('after it was aborted and its batch cancelled, is sent again', async () => {
    stage.simulator.hold();
    const options = stage.options();
    const scope = batchify(options);
    const controller = new AbortController();
    const [aborted, other] = scope.run(() => [
      ask('left', { signal: controller.signal }).catch((error: unknown) => error),
      ask('cancelled'),
    ]);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    controller.abort('enough');
    expect(await aborted).toBe('enough');
    await scope.cancel();
    expect(((await other) as Response).status).toBe(499);
    const later = batchify(options);
    const again = later.run(() => ask('left'));
    await until(() => later.stats.captured === 1, 'the call');
    stage.simulator.release();
    expect((await again).status).toBe(200);
    expect(stage.simulator.meter.total).toBe(1);
    await Promise.all([scope.close(), later.close()]);
  });

  it('by another key, after a final error of the first, is asked of the provider', async () => {
    const scope = batchify(stage.options({ attempts: 1 }));
    const askWith = (key: string) => {
      const { headers, ...request } = chatRequest('[[once status 500]]');
      const authorization = `Bearer ${key}`;
      return fetch(chatUrl(stage), { ...request, headers: { ...headers, authorization } });
    };
    expect((await scope.run(() => askWith('sk-one'))).status).toBe(500);
    expect((await scope.run(() => askWith('sk-one'))).status).toBe(500);
    expect((await scope.run(() => askWith('sk-two'))).status).toBe(200);
    await scope.close();
    expect(stage.simulator.meter).toMatchObject({ total: 1, failed: 1 });
  });

  it('by another scope, after a final error of the first, is asked of the provider', async () => {
    const options = stage.options({ attempts: 1 });
    const [one, other] = [batchify(options), batchify(options)];
    const askIn = (scope: typeof one) => scope.run(() => ask('[[once status 500]]'));
    expect((await askIn(one)).status).toBe(500);
    expect((await askIn(other)).status).toBe(200);
    await Promise.all([one.close(), other.close()]);
    expect(stage.simulator.meter).toMatchObject({ total: 1, failed: 1 });
  });

  it('while another caller waits for the same request, is another sample', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options());
    const controller = new AbortController();
    const { headers } = chatRequest('shared');
    const keyed = { headers: { ...headers, 'idempotency-key': 'one' } };
    const [first, second] = scope.run(() => [
      ask('shared', { ...keyed, signal: controller.signal }).catch((error: unknown) => error),
      ask('shared', keyed),
    ]);
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    controller.abort('enough');
    expect(await first).toBe('enough');
    const third = scope.run(() => ask('shared'));
    await scope.flush();
    stage.simulator.release();
    const [one, two] = await Promise.all([second, third]);
    expect(await (one as Response).text()).not.toBe(await two.text());
    expect(stage.simulator.meter.total).toBe(2);
    await scope.close();
  });
});
