import type { Migration } from '../../../sql/migrations.ts';

/** When accounts and queues were last opened, so that those that nothing refers to can be dropped. */
export const lastUse: Migration = {
  version: 2,
  sql: `
    ALTER TABLE account ADD COLUMN used_at bigint NOT NULL DEFAULT 0;
    ALTER TABLE queue ADD COLUMN used_at bigint NOT NULL DEFAULT 0;
  `,
};
