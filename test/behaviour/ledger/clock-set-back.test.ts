import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const realNow = Date.now;
let stage: Stage;
let behind = 0;

beforeEach(async () => {
  stage = await openStage();
  behind = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() - behind);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage.close();
});

const setBack = () => {
  behind = 3_600_000;
};

describe('a system clock that is set back by an hour', () => {
  it('lets no call wait longer in its queue', async () => {
    const scope = batchify(stage.options({ window: '300ms' }));
    const asked = scope.run(() => ask(stage.openai(), 'the time'));
    await until(() => scope.stats.captured === 1, 'the call');
    await pause(50);
    setBack();
    expect(await asked).toContain('"the time"');
    await scope.close();
  });

  it('stops no polling', async () => {
    stage.simulator.hold();
    const scope = batchify(stage.options({ poll: '100ms' }));
    let polls = 0;
    scope.on('batch:polled', () => {
      polls += 1;
    });
    const asked = scope.run(() => ask(stage.openai(), 'the time'));
    await until(() => polls > 0, 'a poll');
    // Between two polls.
    await pause(20);
    setBack();
    const before = polls;
    await until(() => polls >= before + 2, 'further polls');
    // The simulator believes its clock.
    behind = 0;
    stage.simulator.release();
    expect(await asked).toContain('"the time"');
    await scope.close();
  });
});
