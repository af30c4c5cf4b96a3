import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { loseOwners } from '../../support/lose-owner.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { soon, until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

describe('an engine whose owner the ledger counts as gone', () => {
  it('joins again and sends what waited in its queue, once', async () => {
    const store = stage.newStore();
    const scope = batchify(stage.options({ store, window: '1h', maxWindow: '1h' }));
    const client = stage.openai();
    const early = scope.run(() => ask(client, 'before'));
    await until(() => scope.stats.captured === 1, 'the first call');
    await scope.run(() => new Promise((resolve) => setTimeout(resolve, 20)));
    await loseOwners(store);
    const late = scope.run(() => ask(client, 'after'));
    await until(() => scope.stats.captured === 2, 'the second call');
    await scope.flush();
    const answers = Promise.all([early, late]);
    await soon(scope.close());
    await soon(answers);
    expect(stage.simulator.meter.total).toBe(2);
    expect(scope.stats).toMatchObject({ answered: 2, failed: 0 });
  });

  it('takes its own batches over again, and nothing is paid twice', async () => {
    const { simulator } = stage;
    simulator.hold();
    const store = stage.newStore();
    const scope = batchify(stage.options({ store }));
    const asked = scope.run(() => ask(stage.openai(), 'in a batch'));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await loseOwners(store);
    simulator.release();
    await soon(asked);
    await soon(scope.close());
    expect(simulator.meter.total).toBe(1);
    expect(simulator.batches()).toHaveLength(1);
  });
});
