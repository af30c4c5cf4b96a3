import { seedFrom } from '../support/seeded.ts';

const { BATCHLING_PROPERTY_RUNS: runs, BATCHLING_PROPERTY_PATH: path } = process.env;
const minute = 60_000;

/**
 * The same programs each time, about half a minute of them. `BATCHLING_PROPERTY_RUNS` plays that
 * many, of a new seed; `BATCHLING_PROPERTY_SEED` and `BATCHLING_PROPERTY_PATH`, as printed by a
 * failure, play a failing one again.
 */
export function settings(usual = 100) {
  const numRuns = runs === undefined ? usual : Number(runs);
  const seedGiven = process.env.BATCHLING_PROPERTY_SEED !== undefined;
  const seed = runs === undefined && !seedGiven ? 1 : seedFrom('BATCHLING_PROPERTY_SEED');
  const patience = runs === undefined ? 3 * minute : numRuns * 5_000 + 10 * minute;
  return {
    numRuns,
    seed,
    patience,
    // Shrinking may take its time, but the failure must be told.
    interruptAfterTimeLimit: patience - minute,
    ...(path !== undefined && { path }),
  };
}
