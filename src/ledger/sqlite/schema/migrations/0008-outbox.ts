import type { Migration } from '../../../sql/migrations.ts';

/** Messages that somebody outside is to be told. One without `due_at` is over, and is known for a while. */
export const outbox: Migration = {
  version: 8,
  sql: `
    CREATE TABLE outbox (
      id TEXT PRIMARY KEY,
      target TEXT NOT NULL,
      body TEXT NOT NULL,
      at INTEGER NOT NULL,
      due_at INTEGER,
      attempt INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX outbox_due ON outbox (target, due_at) WHERE due_at IS NOT NULL;
  `,
};
