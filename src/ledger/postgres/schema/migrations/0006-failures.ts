import type { Migration } from '../../../sql/migrations.ts';

/** Finds what has failed among millions that have not: people look at it first. Rows that have not failed are not in the indexes. */
export const failures: Migration = {
  version: 6,
  sql: `
    CREATE INDEX answer_failed ON answer (request) WHERE status NOT BETWEEN 200 AND 299;
    CREATE INDEX batch_failed ON batch (id) WHERE failure IS NOT NULL;
  `,
};
