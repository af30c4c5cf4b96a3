import { describe, expect, it } from 'vitest';
import { inLanes } from '../support/lanes.ts';
import { wiredProviders } from '../support/provider-wires.ts';
import { lanes } from './enumerate.ts';
import { playHistory } from './history.ts';
import { networkPoints } from './kills.ts';
import { plotNamed } from './plots.ts';
import { addVerdict, noVerdict, type Verdict } from './verdict.ts';

/** The other points are for the long run. */
describe('a program killed while it creates its batch ends well when it runs again', () => {
  it.each(wiredProviders)('%s', async (provider) => {
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
