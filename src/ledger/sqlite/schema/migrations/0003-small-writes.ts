import type { Migration } from '../../../sql/migrations.ts';

/**
 * Rows that come in random order are written in two steps, so that they do not dirty a page each.
 *
 * Fingerprints are random, so every insert into an index over all of them dirties a page of its own:
 * the larger the ledger, the more. New entries therefore go into `identity_new`, which is a few pages,
 * and move to `identity` by the thousands and sorted, which writes each page of that once. A request is
 * in one of the two. See `identities.ts`.
 *
 * Answers come in any order, too. `answer_new` lists the blocks that the rows of their requests, members
 * of open batches, do not name yet. The rows are written later, by the thousands and sorted, in several
 * transactions. Ids of blocks may be used again, so rows of `answer_new` have ids of their own, which
 * are not. See `new-answers.ts`.
 */
export const smallWrites: Migration = {
  version: 3,
  sql: `
    DROP INDEX request_identity;

    CREATE TABLE identity (
      prefix BLOB NOT NULL,
      occ INTEGER NOT NULL,
      request INTEGER NOT NULL,
      PRIMARY KEY (prefix, occ, request)
    ) WITHOUT ROWID;
    CREATE TABLE identity_new (
      prefix BLOB NOT NULL,
      occ INTEGER NOT NULL,
      request INTEGER NOT NULL,
      PRIMARY KEY (prefix, occ, request)
    ) WITHOUT ROWID;

    INSERT INTO identity (prefix, occ, request)
    SELECT substr(fp, 1, 6), occ, id FROM request ORDER BY 1, 2, 3;

    CREATE TRIGGER request_gone AFTER DELETE ON request BEGIN
      DELETE FROM identity
      WHERE prefix = substr(OLD.fp, 1, 6) AND occ = OLD.occ AND request = OLD.id;
      DELETE FROM identity_new
      WHERE prefix = substr(OLD.fp, 1, 6) AND occ = OLD.occ AND request = OLD.id;
    END;

    CREATE TABLE answer_new (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      answer INTEGER NOT NULL UNIQUE,
      batch INTEGER NOT NULL,
      count INTEGER NOT NULL,
      state INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      at INTEGER NOT NULL
    );
  `,
};
