import type { Migration } from '../../../sql/migrations.ts';

/**
 * A batch gets its estimate, and what its answers have cost: dollars, and tokens of the answers that
 * say so (`counted` of them). The sums are written with the outcomes they belong to, so a crash counts
 * nothing twice. `run_cost` holds what a run with a budget has spent outside of batches. The indexes
 * serve the sum of a run and the history of a queue.
 */
export const costs: Migration = {
  version: 4,
  sql: `
    ALTER TABLE batch ADD COLUMN estimate REAL;
    ALTER TABLE batch ADD COLUMN paid REAL;
    ALTER TABLE batch ADD COLUMN saved REAL;
    ALTER TABLE batch ADD COLUMN input_tokens INTEGER;
    ALTER TABLE batch ADD COLUMN output_tokens INTEGER;
    ALTER TABLE batch ADD COLUMN counted INTEGER;
    CREATE INDEX batch_run ON batch (run);
    CREATE INDEX batch_queue ON batch (queue);

    CREATE TABLE run_cost (
      run TEXT PRIMARY KEY,
      realtime REAL NOT NULL
    ) WITHOUT ROWID;
  `,
};
