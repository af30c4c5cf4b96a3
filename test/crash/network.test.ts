import { describe, expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { lanes } from './parts/enumerate.ts';
import { playHistory } from './parts/history.ts';
import { networkPoints } from './parts/kills.ts';
import { plotNamed } from './parts/plots.ts';
import { addVerdict, noVerdict, type Verdict } from './parts/verdict.ts';

/** One wire of each kind: a file, a tag in the create, no tag. The others, and other points, are for the storm. */
describe('a program killed while it creates its batch ends well when it runs again', () => {
  it.each(['openai', 'mistral', 'anthropic'] as const)('%s', async (provider) => {
    const plot = plotNamed(provider, 'a crowded account');
    const points = networkPoints(provider).filter(({ at }) => at.startsWith('the create'));
    const histories = await inLanes(points, lanes, (point) => playHistory(plot, [point]));
    const verdict = histories.reduce<Verdict>(addVerdict, noVerdict());
    expect(verdict).toEqual({
      kills: points.length,
      billedTwice: 0,
      lost: 0,
      wrong: 0,
      complaints: [],
    });
  });
});
