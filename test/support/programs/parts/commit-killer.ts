import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';

/** Where a program ends itself. */
export interface KillPoint {
  /** Around its nth COMMIT, counted from 1, or around the first one that finds this file there. */
  readonly commit: number | string;
  readonly when: 'before' | 'after';
}

interface Statement {
  run(...values: unknown[]): unknown;
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
}

type DatabaseClass = new (path: string, options: object) => Database;

const isCommit = /^\s*(COMMIT|END)\b/i;
let commits = 0;

/** How many transactions this process has ended so far. */
export function commitsSoFar(): number {
  return commits;
}

/**
 * Counts the COMMITs of every connection to a ledger of this process, and dies around one of them.
 * The classes of both drivers are sealed, so the ledger is given one that extends theirs.
 */
export async function killAtCommit(point: KillPoint | undefined): Promise<void> {
  const Original = await databaseClass();
  class DatabaseSync extends Original {
    override exec(sql: string): void {
      around(point, isCommit.test(sql), () => super.exec(sql));
    }

    override prepare(sql: string): Statement {
      const statement = super.prepare(sql);
      if (!isCommit.test(sql)) return statement;
      return { run: () => around(point, true, () => statement.run()) };
    }
  }
  const shared = Symbol.for('batchling.sqlite.driver');
  (globalThis as { [shared]?: unknown })[shared] = { DatabaseSync };
}

/** The same for a ledger in PostgreSQL: a COMMIT has ended when the server's answer is there. */
export async function killAtServerCommit(point: KillPoint | undefined): Promise<void> {
  const { default: pg } = await import('pg');
  const { query } = pg.Client.prototype;
  const counting = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
    commits += 1;
    const here = commits === point?.commit || isThere(point?.commit);
    if (here && point?.when === 'before') die();
    const result = await Reflect.apply(query, this, given);
    if (here) die();
    return result;
  };
  pg.Client.prototype.query = function (this: unknown, ...given: unknown[]) {
    const isLast = typeof given[0] === 'string' && /\bCOMMIT$/.test(given[0]);
    return Reflect.apply(isLast ? counting : query, this, given);
  } as typeof query;
}

/** Stops this process once, just before the first byte of a create. */
export function stopBeforeCreate(): void {
  let stopped = false;
  subscribe('undici:client:sendHeaders', (message) => {
    const { method, path } = (message as { request: { method: string; path: string } }).request;
    if (stopped || method !== 'POST' || !/\/batches$/.test(path)) return;
    stopped = true;
    process.kill(process.pid, 'SIGSTOP');
  });
}

/** Stops this process once, when a PostgreSQL ledger has the mark that a create begins. */
export async function stopAtMark(): Promise<void> {
  const { default: pg } = await import('pg');
  const { query } = pg.Client.prototype;
  let isMarked = false;
  const stopping = async function (this: unknown, ...given: unknown[]): Promise<unknown> {
    const result = await Reflect.apply(query, this, given);
    isMarked = false;
    process.kill(process.pid, 'SIGSTOP');
    return result;
  };
  pg.Client.prototype.query = function (this: unknown, ...given: unknown[]) {
    const sql = String(given[0]);
    if (sql.includes('creating_at =')) isMarked = true;
    return Reflect.apply(isMarked && /\bCOMMIT$/.test(sql) ? stopping : query, this, given);
  } as typeof query;
}

function around<T>(point: KillPoint | undefined, counts: boolean, work: () => T): T {
  if (!counts) return work();
  commits += 1;
  const here = commits === point?.commit || isThere(point?.commit);
  if (here && point?.when === 'before') die();
  const result = work();
  if (here) die();
  return result;
}

function isThere(path: number | string | undefined): boolean {
  return typeof path === 'string' && existsSync(path);
}

/** SIGKILL: no handler, no flush, no farewell. */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** The same choice as the ledger's: built in from Node 22.13 on, a package below. */
async function databaseClass(): Promise<DatabaseClass> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isBuiltIn = major > 22 || (major === 22 && minor >= 13);
  const driver = isBuiltIn ? await import('node:sqlite') : await import('@photostructure/sqlite');
  return driver.DatabaseSync as unknown as DatabaseClass;
}
