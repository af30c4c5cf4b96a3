import type { Migration } from '../../../sql/migrations.ts';

/** What is in the way of a program, as JSON: people look at the ledger, and not at the terminal of the program. */
export const troubles: Migration = {
  version: 12,
  sql: 'ALTER TABLE owner ADD COLUMN troubles TEXT;',
};
