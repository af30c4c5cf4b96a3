import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { lanes } from './enumerate.ts';
import { playHistory } from './history.ts';
import { plotNamed } from './plots.ts';
import { addVerdict, noVerdict, type Verdict } from './verdict.ts';

/** Each commit on its own, from both sides, is for the long run. */
it.each(['openai', 'anthropic'] as const)(
  'a program killed around its commits, a little later each time, ends well: %s',
  async (provider) => {
    const plot = plotNamed(provider, 'a crowded account');
    const starts = [
      { commit: 3, when: 'before' },
      { commit: 7, when: 'after' },
      { commit: 10, when: 'before' },
    ] as const;
    const histories = await inLanes(starts, lanes, ({ commit, when }) =>
      playHistory(
        plot,
        [0, 2, 4].map((later) => ({ commit: commit + later, when })),
      ),
    );
    const verdict = histories.reduce<Verdict>(addVerdict, noVerdict());
    expect(verdict).toMatchObject({ billedTwice: 0, lost: 0, wrong: 0, complaints: [] });
    // How many commits a continued run has depends on how far the killed one had come.
    expect(verdict.kills).toBeGreaterThanOrEqual(5);
  },
);
