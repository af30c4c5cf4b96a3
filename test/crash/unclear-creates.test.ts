import { expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { lanes } from './parts/enumerate.ts';
import { playHistory } from './parts/history.ts';
import { plotsOf } from './parts/plots.ts';
import { addVerdict, noVerdict } from './parts/verdict.ts';

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
);
