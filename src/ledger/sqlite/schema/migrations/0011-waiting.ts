import type { Migration } from '../../../sql/migrations.ts';

/**
 * Finds what waits among millions that do not: people look at that, too. Requests are in the index until they are planned
 * or settled, so it stays a few pages, and new ones are appended to it.
 */
export const waiting: Migration = {
  version: 11,
  sql: `
    CREATE INDEX request_waiting ON request (id) WHERE state = 0 AND batch IS NULL;
  `,
};
