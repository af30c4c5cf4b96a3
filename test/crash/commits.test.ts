import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { lanes } from './parts/enumerate.ts';
import { playHistory } from './parts/history.ts';
import { plotNamed } from './parts/plots.ts';
import { addVerdict, noVerdict, type Verdict } from './parts/verdict.ts';

/**
 * At which COMMIT each launch is killed. How many a launch has depends on how far the one before had
 * come, and a little on how often it polls: at least 15 the first time, 11 to 17 when it continues a
 * batch, and 5 when all answers are there. Each of these kills comes well before that.
 */
const plans = [
  { when: 'before', commits: [3, 5, 7] },
  { when: 'after', commits: [7, 9, 3] },
  { when: 'before', commits: [10, 8, 3] },
] as const;

/** Each commit on its own, from both sides, is for the long run. */
it.each(['openai', 'anthropic'] as const)(
  'a program killed three times around its commits ends well: %s',
  async (provider) => {
    const plot = plotNamed(provider, 'a crowded account');
    const histories = await inLanes(plans, lanes, ({ when, commits }) =>
      playHistory(
        plot,
        commits.map((commit) => ({ commit, when })),
      ),
    );
    const verdict = histories.reduce<Verdict>(addVerdict, noVerdict());
    expect(verdict).toMatchObject({ billedTwice: 0, lost: 0, wrong: 0, complaints: [] });
    expect(histories.map(({ kills }) => kills)).toEqual([3, 3, 3]);
  },
);
