import { inLanes } from '../../support/lanes.ts';
import type { KillPoint } from '../../support/processes/asker.ts';
import type { Plot } from './history.ts';
import { playHistory } from './history.ts';
import type { Kill } from './kills.ts';
import { addVerdict, noVerdict, type Verdict } from './verdict.ts';

/** More than one per core: a program that waits for its provider leaves its core to others. */
export const lanes = 3;

/**
 * Kills the program around each of its COMMITs, one history per kill. How many there are differs a
 * little from launch to launch (polls are noted), so it goes on until a launch was not killed, or until
 * it is `enough`.
 */
export async function killAtEveryCommit(
  plot: Plot,
  sides: readonly KillPoint['when'][],
  more: (point: KillPoint) => readonly Kill[],
  enough: number,
): Promise<Verdict> {
  let sum = noVerdict();
  for (let commit = 1; ; commit += lanes) {
    const points = Array.from({ length: lanes }, (_, lane) =>
      sides.map((when): KillPoint => ({ commit: commit + lane, when })),
    ).flat();
    const histories = await inLanes(points, lanes, (point) =>
      playHistory(plot, [point, ...more(point)]),
    );
    sum = histories.reduce<Verdict>(addVerdict, sum);
    if (histories.some(({ kills }) => kills === 0) || performance.now() > enough) return sum;
  }
}
