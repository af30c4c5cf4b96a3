import { seedFrom } from '../support/seeded.ts';

const {
  BATCHLING_PROPERTY_RUNS: runs,
  BATCHLING_PROPERTY_SEED: given,
  BATCHLING_PROPERTY_PATH: path,
} = process.env;
const minute = 60_000;

/** Known ones; with one of the variables, the seed that it names or a new one. */
export const seeds =
  given === undefined && runs === undefined ? [1, 2] : [seedFrom('BATCHLING_PROPERTY_SEED')];

/**
 * How often a property is tried with each seed. `BATCHLING_PROPERTY_RUNS` tries it that often, with a
 * new seed, and so does `BATCHLING_PROPERTY_SEED=fresh` as often as usual; `BATCHLING_PROPERTY_SEED` and `BATCHLING_PROPERTY_PATH`, as printed by a failure, play a
 * failing case again.
 */
export function settings(seed: number, usual: number) {
  const numRuns = runs === undefined ? usual : Number(runs);
  console.log(`BATCHLING_PROPERTY_SEED=${seed}`);
  return {
    numRuns,
    seed,
    // Shrinking may take its time, but the failure must be told.
    interruptAfterTimeLimit: patience - minute,
    ...(path !== undefined && { path }),
  };
}

export const patience = runs === undefined ? 5 * minute : Number(runs) * 5_000 + 10 * minute;
