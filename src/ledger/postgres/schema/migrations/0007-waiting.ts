import type { Migration } from '../../../sql/migrations.ts';

/**
 * Finds what waits among millions that do not: people look at that, too. The state is no part of it: an index that names
 * it would make PostgreSQL write all indexes of a row anew when its answer comes.
 */
export const waiting: Migration = {
  version: 7,
  sql: `
    CREATE INDEX request_waiting ON request (id) WHERE batch IS NULL;
  `,
};
