import { expect, it } from 'vitest';
import { LiveAnswers } from './live-answers.ts';

/** Answers that take so long to make, by a clock of their own. */
function slowAnswers(takes: number) {
  const clock = { time: 0 };
  const answers = new LiveAnswers(() => clock.time);
  let made = 0;
  const ask = (version: number) =>
    answers.get('now', version, async () => {
      clock.time += takes;
      made += 1;
      return made;
    });
  return { clock, answers, ask };
}

it('an answer that is quick to make is made anew a hundred times that later', async () => {
  const { clock, ask } = slowAnswers(10);
  expect(await ask(1)).toBe(1);
  clock.time += 990;
  expect(await ask(2)).toBe(1);
  clock.time += 20;
  expect(await ask(2)).toBe(2);
});

it('an answer that is slow to make is made anew after five seconds', async () => {
  const { clock, ask } = slowAnswers(730);
  expect(await ask(1)).toBe(1);
  clock.time += 5_001;
  expect(await ask(2)).toBe(2);
});

it('an answer is made anew at once after the page has changed something', async () => {
  const { answers, ask } = slowAnswers(730);
  expect(await ask(1)).toBe(1);
  answers.forget();
  expect(await ask(1)).toBe(2);
});
