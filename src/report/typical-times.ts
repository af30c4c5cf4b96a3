import type { BatchSummary } from '../ledger/ledger.ts';
import { rowName } from './call-counts.ts';

/** How long batches of a model usually take. */
export interface TypicalTime {
  readonly provider: string;
  readonly model: string;
  /** Milliseconds. */
  readonly duration: number;
}

/** The median duration of past batches, for each provider and model. */
export function typicalTimes(batches: readonly BatchSummary[]): TypicalTime[] {
  const durations = new Map<string, { provider: string; model: string; all: number[] }>();
  for (const { provider, model, state, acceptedAt, endedAt, failure } of batches) {
    if (state !== 'ended' || failure !== undefined) continue;
    if (acceptedAt === undefined || endedAt === undefined || endedAt <= acceptedAt) continue;
    const name = rowName({ provider, model });
    const known = durations.get(name) ?? { provider, model, all: [] };
    known.all.push(endedAt - acceptedAt);
    durations.set(name, known);
  }
  return [...durations.values()].map(({ provider, model, all }) => {
    const sorted = all.sort((a, b) => a - b);
    return { provider, model, duration: sorted[Math.floor(sorted.length / 2)] as number };
  });
}
