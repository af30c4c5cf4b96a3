import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { BackgroundWork, withGrace } from './background-work.ts';

it('is done when what its work begins in the same turn is done, too', async () => {
  const background = new BackgroundWork();
  const fail = (error: unknown) => {
    throw error;
  };
  let isCleanedUp = false;
  const collected = Promise.resolve();
  background.add(collected, fail);
  const ending = async () => {
    await collected;
    // As many steps as lie between the last answer of a batch and its clean-up.
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    const cleaning = new Promise((resolve) => setImmediate(resolve)).then(() => {
      isCleanedUp = true;
    });
    background.add(cleaning, fail);
  };
  void ending();
  await background.done();
  expect(isCleanedUp).toBe(true);
});

it('has a grace of real time, which is over as soon as the work is', async () => {
  let isDone = false;
  // Longer than a moment on a clock that runs hundreds of times faster.
  const work = setTimeout(30).then(() => {
    isDone = true;
  });
  await withGrace(work);
  expect(isDone).toBe(true);
});
