import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../src/base/types.ts';
import { batchify } from '../../src/core.ts';
import { chatRequest } from '../support/ask.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { chatUrl } from '../support/source-of.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

let stage: Stage;
const collectGarbage = exposeGarbageCollection();

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

function exposeGarbageCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Calls that are answered, refused, aborted and cancelled, in a scope that is closed afterwards. */
async function useAnEngine(): Promise<WeakRef<Clock>> {
  // Whatever of an engine can be reached leads to its clock.
  const clock = fastClock({ epoch: Date.now(), speed: 100 });
  const scope = batchify(stage.options({ clock, window: '1s', poll: '1s' }));
  const controller = new AbortController();
  const ask = (prompt: string, signal?: AbortSignal) =>
    scope
      .fetch(chatUrl(stage), { ...chatRequest(prompt), ...(signal && { signal }) })
      .then((response) => response.text())
      .catch(() => 'aborted');
  const early = [ask('answered'), ask('[[status 400]]'), ask('[[status 500]]')];
  const late = ask('aborted', controller.signal);
  await until(() => scope.stats.captured === 4, 'the calls');
  controller.abort(new Error('not needed'));
  await Promise.all([...early, late]);
  const cancelled = ask('cancelled');
  await scope.cancel();
  await cancelled;
  await scope.close();
  return new WeakRef(clock);
}

it('nothing of an engine can be reached once its last scope has closed', async () => {
  const clocks: WeakRef<Clock>[] = [];
  for (let round = 0; round < 5; round += 1) clocks.push(await useAnEngine());
  const alive = () => {
    collectGarbage();
    return clocks.filter((clock) => clock.deref() !== undefined).length;
  };
  // The last one may still be on somebody's stack.
  await until(() => alive() <= 1, 'the engines to go').catch(() => undefined);
  expect(alive()).toBeLessThanOrEqual(1);
});
