import type { Migration } from '../../../sql/migrations.ts';

/** Messages that somebody outside is to be told. One without `due_at` is over, and is known for a while. */
export const outbox: Migration = {
  version: 4,
  sql: `
    CREATE TABLE outbox (
      id text PRIMARY KEY,
      target text NOT NULL,
      body text NOT NULL,
      at bigint NOT NULL,
      due_at bigint,
      attempt integer NOT NULL
    );
    CREATE INDEX outbox_due ON outbox (target, due_at) WHERE due_at IS NOT NULL;
  `,
};
