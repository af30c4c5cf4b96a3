import type { Stats } from '../orchestrator/model/stats.ts';
import type { ProgressState, ShownBatch } from './progress-state.ts';
import { number } from './summary.ts';
import { ageText, howFar } from './wording.ts';

/** More groups of batches than these are counted, and not shown. */
const mostGroups = 4;
const mostTroubles = 2;

interface Scope {
  readonly stats: Stats;
  readonly since: number;
}

/**
 * How things stand: all calls, then the batches by model, then what is in the way. What counts comes
 * first in each line, because narrow terminals cut its end off.
 */
export function liveLines(
  { batches, troubles }: ProgressState,
  scopes: readonly Scope[],
  now: number,
): string[] {
  let captured = 0;
  let answered = 0;
  let since = now;
  for (const scope of scopes) {
    captured += scope.stats.captured;
    answered += scope.stats.answered;
    since = Math.min(since, scope.since);
  }
  const groups = [...byModel(batches.values())];
  return [
    `${number(answered)} of ${number(captured)} calls answered, ${ageText(now - since)}`,
    ...groups.slice(0, mostGroups).map(([name, group]) => `${howFar(group, now)}: ${name}`),
    ...(groups.length > mostGroups
      ? [`and ${number(groups.length - mostGroups)} more models`]
      : []),
    ...[...troubles.values()].slice(-mostTroubles),
  ];
}

function byModel(batches: Iterable<ShownBatch>): Map<string, ShownBatch[]> {
  const groups = new Map<string, ShownBatch[]>();
  for (const batch of batches) {
    const name = `${batch.provider} ${batch.model}`;
    const group = groups.get(name);
    if (group) group.push(batch);
    else groups.set(name, [batch]);
  }
  return groups;
}
