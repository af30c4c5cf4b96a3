import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { killAtEveryCommit, lanes } from './enumerate.ts';
import { playHistory } from './history.ts';
import { plotNamed } from './plots.ts';
import { addVerdict, noVerdict, type Verdict } from './verdict.ts';

const nothingWrong = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };

it('a program killed after any of its commits ends well when it runs again', async () => {
  const verdict = await killAtEveryCommit(plotNamed('openai', 'a crowded account'), ['after']);
  expect(verdict).toMatchObject(nothingWrong);
  // Joined, admitted, planned, staged, creating, accepted, answered, ended, left: one each at least.
  expect(verdict.kills).toBeGreaterThan(9);
}, 120_000);

it('a program killed again and again, a little later each time, ends well', async () => {
  const plot = plotNamed('anthropic', 'a crowded account');
  const starts = [
    { commit: 3, when: 'before' },
    { commit: 4, when: 'after' },
    { commit: 5, when: 'before' },
  ] as const;
  const histories = await inLanes(starts, lanes, ({ commit, when }) =>
    playHistory(
      plot,
      [0, 2, 4, 6].map((later) => ({ commit: commit + later, when })),
    ),
  );
  const verdict = histories.reduce<Verdict>(addVerdict, noVerdict());
  expect(verdict).toMatchObject(nothingWrong);
  expect(verdict.kills).toBeGreaterThan(5);
}, 120_000);
