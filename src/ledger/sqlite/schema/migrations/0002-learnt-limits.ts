import type { Migration } from '../../../sql/migrations.ts';

export const learntLimits: Migration = {
  version: 2,
  sql: `
    CREATE TABLE learnt_limit (
      account INTEGER NOT NULL,
      model TEXT NOT NULL,
      tokens INTEGER NOT NULL,
      named INTEGER NOT NULL,
      learnt_at INTEGER NOT NULL,
      PRIMARY KEY (account, model)
    ) WITHOUT ROWID;
  `,
};
