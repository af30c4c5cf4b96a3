import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { lanes } from './enumerate.ts';
import { playHistory } from './history.ts';
import { networkPoint } from './kills.ts';
import { plotNamed, plotsOf } from './plots.ts';
import { addVerdict, noVerdict } from './verdict.ts';

const nothingWrong = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const providers = ['openai', 'anthropic'] as const;

it.each(providers)(
  'a create whose outcome is unclear is looked for before anything is sent again: %s',
  async (provider) => {
    const verdicts = await inLanes(plotsOf(provider).slice(4), lanes, (plot) =>
      playHistory(plot, []),
    );
    expect(verdicts.reduce(addVerdict, noVerdict())).toEqual({ kills: 0, ...nothingWrong });
  },
  60_000,
);

it('a kill right after a repeated create was accepted costs nothing', async () => {
  const accepted = networkPoint('openai', 'the create was accepted');
  // Long after the first create, while the list does not show the last one yet: a clock slow enough
  // for the program to start again meanwhile.
  const settings = { foreignBatches: true, listLag: 2_200 };
  const plot = { ...plotNamed('openai', 'a 504'), settings, speed: 5 };
  const { commits: _, ...verdict } = await playHistory(plot, [accepted]);
  expect(verdict).toEqual({ kills: 1, ...nothingWrong });
}, 60_000);
