import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { chatUrl, sourceOf } from '../../support/source-of.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

describe('an abort while the batch of the call is being planned', () => {
  it('ends that call only; the others of the batch are sent and answered', async () => {
    const scope = batchify(stage.options({ window: '1h', maxWindow: '1h' }));
    const controller = new AbortController();
    const { signal } = controller;
    const [aborted, kept] = scope.run(() => [
      fetch(chatUrl(stage), { ...chatRequest('aborted'), signal }),
      sourceOf(stage, 'kept'),
    ]);
    const outcome = (aborted as Promise<Response>).catch((error: unknown) => error);
    await until(() => scope.stats.captured === 2, 'the calls');
    // The queue is taken, and the ledger has not yet said that the plan is written.
    await scope.flush();
    controller.abort();
    expect(await soon(outcome)).toMatchObject({ name: 'AbortError' });
    expect(await soon(kept as Promise<string>)).toBe('batch');
    await scope.close();
  });
});
