import { expect, it } from 'vitest';
import { playHistory } from './parts/history.ts';
import { networkPoint } from './parts/kills.ts';
import { plotNamed } from './parts/plots.ts';

it('a kill right after a repeated create was accepted costs nothing', async () => {
  const accepted = networkPoint('openai', 'the create was accepted');
  // Long after the first create, while the list does not show the last one yet: a clock slow enough
  // for the program to start again meanwhile.
  const settings = { foreignBatches: true, listLag: 2_200 };
  const plot = { ...plotNamed('openai', 'a 504'), settings, speed: 5 };
  const { commits: _, ...verdict } = await playHistory(plot, [accepted]);
  expect(verdict).toEqual({ kills: 1, billedTwice: 0, lost: 0, wrong: 0, complaints: [] });
}, 60_000);
