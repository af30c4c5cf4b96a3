import type { Migration } from '../../../sql/migrations.ts';

/** The traces that a batch was asked in, as JSON, so that the process which collects it can link to them. */
export const traces: Migration = {
  version: 9,
  sql: 'ALTER TABLE batch ADD COLUMN traces TEXT;',
};
