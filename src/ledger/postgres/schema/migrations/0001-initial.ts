import type { Migration } from '../../../sql/migrations.ts';

/**
 * Moments are milliseconds since the epoch, leases are timestamps of the server. Rows of requests are
 * narrow: bodies and answers lie in tables of their own. No foreign keys: each would cost a look-up and a
 * lock for each row, and what belongs together is written in one transaction.
 *
 * `request_identity` makes two processes that ask for the same request at the same time meet: one of them
 * inserts the row. Ids come from a sequence of their own, so that they are in the order of the asks
 * although rows are inserted in the order of their fingerprints.
 */
export const initial: Migration = {
  version: 1,
  sql: `
    CREATE TABLE owner (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      run text NOT NULL,
      host text NOT NULL,
      pid bigint NOT NULL,
      joined_at bigint NOT NULL,
      closed_at bigint,
      lease_until timestamptz NOT NULL
    );
    CREATE INDEX owner_open ON owner (id) WHERE closed_at IS NULL;
    CREATE INDEX owner_run ON owner (run);

    CREATE TABLE account (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      provider text NOT NULL,
      hash bytea NOT NULL,
      hint text,
      UNIQUE (provider, hash)
    );

    CREATE TABLE queue (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      hash bytea NOT NULL UNIQUE,
      account bigint NOT NULL,
      provider text NOT NULL,
      base text NOT NULL,
      endpoint text NOT NULL,
      model text NOT NULL,
      headers text NOT NULL,
      partition text
    );

    CREATE TABLE learnt_limit (
      account bigint NOT NULL,
      quota text NOT NULL,
      tokens double precision NOT NULL,
      named boolean NOT NULL,
      learnt_at bigint NOT NULL,
      PRIMARY KEY (account, quota)
    );

    CREATE SEQUENCE request_id AS bigint;
    CREATE TABLE request (
      id bigint PRIMARY KEY,
      fp bytea NOT NULL,
      occ integer NOT NULL,
      generation integer NOT NULL,
      queue bigint NOT NULL,
      owner bigint NOT NULL,
      batch bigint,
      seq integer,
      state smallint NOT NULL,
      attempt integer NOT NULL,
      at bigint NOT NULL
    );
    CREATE UNIQUE INDEX request_identity ON request (fp, occ, generation);
    CREATE INDEX request_member ON request (batch, seq) WHERE batch IS NOT NULL;
    CREATE INDEX request_owner ON request (owner);

    CREATE TABLE body (
      request bigint PRIMARY KEY,
      body bytea NOT NULL
    );

    CREATE TABLE answer (
      request bigint PRIMARY KEY,
      status smallint NOT NULL,
      headers text NOT NULL,
      body bytea NOT NULL
    );

    CREATE TABLE batch (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      token text NOT NULL UNIQUE,
      queue bigint NOT NULL,
      run text NOT NULL,
      owner bigint NOT NULL,
      epoch integer NOT NULL,
      state smallint NOT NULL,
      count integer NOT NULL,
      answered integer NOT NULL DEFAULT 0,
      name text,
      tags text NOT NULL,
      handle text NOT NULL DEFAULT '{}',
      remote_id text,
      raw text,
      counts text,
      cursor text,
      failure text,
      estimate double precision,
      paid double precision,
      saved double precision,
      input_tokens bigint,
      output_tokens bigint,
      counted integer,
      created_at bigint NOT NULL,
      creating_at bigint,
      accepted_at bigint,
      ended_at bigint
    );
    CREATE INDEX batch_open ON batch (id) WHERE state < 5;
    CREATE INDEX batch_run ON batch (run);
    CREATE INDEX batch_queue ON batch (queue);
    CREATE INDEX batch_remote ON batch (remote_id) WHERE remote_id IS NOT NULL;

    CREATE TABLE run_count (
      run text NOT NULL,
      fp bytea NOT NULL,
      n integer NOT NULL,
      PRIMARY KEY (run, fp)
    );

    CREATE TABLE run_cost (
      run text PRIMARY KEY,
      realtime double precision NOT NULL
    );
  `,
};
