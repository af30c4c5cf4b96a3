import type { Migration } from '../../../sql/migrations.ts';

/**
 * Narrow rows only: bodies and answers lie in tables of their own, so that admitting and planning
 * touch few pages. Ids are never reused (`AUTOINCREMENT`): a late write about a forgotten request must
 * not meet another one.
 *
 * The fingerprint index holds 6 of 32 bytes. Each insert lands on a random page of it, so its size is
 * what a large ledger costs. 48 bits tell nearly all requests apart; every lookup compares the whole
 * fingerprint, and a transaction holds the lock, so no other process inserts the same one.
 *
 * Answers come in any order and are by far the most bytes, so they are appended as they come, some
 * dozens in one row (a block, see `answer-block.ts`), which costs much less than a row for each. A
 * request names its block, and a block lists its requests in JSON.
 */
export const initial: Migration = {
  version: 1,
  sql: `
    CREATE TABLE owner (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run TEXT NOT NULL,
      host TEXT NOT NULL,
      pid INTEGER NOT NULL,
      lock TEXT NOT NULL UNIQUE,
      joined_at INTEGER NOT NULL,
      closed_at INTEGER
    );

    CREATE TABLE account (
      id INTEGER PRIMARY KEY,
      provider TEXT NOT NULL,
      hash BLOB NOT NULL,
      hint TEXT,
      UNIQUE (provider, hash)
    );

    CREATE TABLE queue (
      id INTEGER PRIMARY KEY,
      hash BLOB NOT NULL UNIQUE,
      account INTEGER NOT NULL,
      provider TEXT NOT NULL,
      base TEXT NOT NULL,
      endpoint TEXT NOT NULL,
      model TEXT NOT NULL,
      headers TEXT NOT NULL,
      partition TEXT
    );

    CREATE TABLE request (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      fp BLOB NOT NULL,
      occ INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      queue INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      batch INTEGER,
      seq INTEGER,
      state INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      at INTEGER NOT NULL,
      answer INTEGER
    );
    CREATE INDEX request_identity ON request (substr(fp, 1, 6), occ);
    CREATE INDEX request_member ON request (batch, seq) WHERE batch IS NOT NULL;

    CREATE TABLE body (
      request INTEGER PRIMARY KEY,
      body NOT NULL
    );

    CREATE TABLE answer (
      id INTEGER PRIMARY KEY,
      request TEXT NOT NULL,
      status INTEGER NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL
    );

    CREATE TABLE batch (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      token TEXT NOT NULL UNIQUE,
      queue INTEGER NOT NULL,
      run TEXT NOT NULL,
      owner INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      state INTEGER NOT NULL,
      count INTEGER NOT NULL,
      answered INTEGER NOT NULL DEFAULT 0,
      name TEXT,
      tags TEXT NOT NULL,
      handle TEXT NOT NULL DEFAULT '{}',
      remote_id TEXT,
      raw TEXT,
      counts TEXT,
      cursor TEXT,
      failure TEXT,
      created_at INTEGER NOT NULL,
      creating_at INTEGER,
      accepted_at INTEGER,
      ended_at INTEGER
    );
    CREATE INDEX batch_open ON batch (owner) WHERE state < 5;

    CREATE TABLE run_count (
      run TEXT NOT NULL,
      fp BLOB NOT NULL,
      n INTEGER NOT NULL,
      PRIMARY KEY (run, fp)
    ) WITHOUT ROWID;
  `,
};
