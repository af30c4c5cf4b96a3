import { createRequire } from 'node:module';
import { bundlerAdvice } from '../../../base/bundlers.ts';
import { BatchlingError } from '../../../base/errors.ts';

export type SqliteValue = null | number | bigint | string | Uint8Array;

/** The part of `node:sqlite` that the ledger uses; `@photostructure/sqlite` has the same shape. */
export interface Statement {
  run(...values: SqliteValue[]): {
    readonly changes: number | bigint;
    readonly lastInsertRowid: number | bigint;
  };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/**
 * A statement that is prepared when it is first run. A ledger has some eighty of them, of which most
 * programs need a few, and preparing them all at once would take longer than opening the file.
 */
export function lazyStatement(database: Database, sql: string): Statement {
  let prepared: Statement | undefined;
  const statement = () => {
    prepared ??= database.prepare(sql);
    return prepared;
  };
  return {
    run: (...values) => statement().run(...values),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
  };
}

export interface Driver {
  /** The module that another thread requires to have the same SQLite library. */
  readonly source: string;
  readonly DatabaseSync: new (
    path: string,
    options: { timeout: number; readOnly?: boolean },
  ) => Database;
}

const shared = Symbol.for('batchling.sqlite.driver');

/**
 * Built in from Node 22.13 on, a package below. Kept on `globalThis`: POSIX locks belong to the
 * process, so two copies of batchling with a SQLite library each would drop each other's locks.
 */
export async function loadDriver(): Promise<Driver> {
  const holder = globalThis as { [shared]?: Driver };
  holder[shared] ??= (await loadBuiltIn()) ?? (await loadPackage());
  return holder[shared];
}

async function loadBuiltIn(): Promise<Driver | undefined> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 13)) return undefined;
  const { DatabaseSync } = await withoutExperimentalWarning(() => import('node:sqlite'));
  return { DatabaseSync, source: 'node:sqlite' };
}

const permissionAdvice =
  'Under --permission it takes --allow-addons and --allow-fs-read for what SQLite reads. ';
const packageName = '@photostructure/sqlite';

async function loadPackage(): Promise<Driver> {
  try {
    const source = sourceOf(packageName);
    // Where Node may refuse it a file (--permission), an import that fails is also an unhandled rejection.
    const { DatabaseSync } = process.permission
      ? (createRequire(source)(source) as typeof import('@photostructure/sqlite'))
      : await import('@photostructure/sqlite');
    return { DatabaseSync, source };
  } catch (error) {
    throw new BatchlingError(
      'STORE_UNUSABLE',
      `SQLite could not be loaded on ${process.platform}-${process.arch}, Node ${process.versions.node}. ` +
        `${process.permission ? permissionAdvice : ''}Use Node 22.13 or later, which has it built in, or store: ":memory:". ${bundlerAdvice}`,
      { cause: error },
    );
  }
}

function sourceOf(name: string): string {
  // A bundle in the form of CommonJS has no URL; there a thread looks for the package by its name.
  const { url } = import.meta as { url?: string };
  return url === undefined ? name : createRequire(url).resolve(name);
}

/** The user did not choose SQLite, so Node's warning about it would only puzzle. */
async function withoutExperimentalWarning<T>(load: () => Promise<T>): Promise<T> {
  const emitWarning = process.emitWarning;
  const filtered = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) {
      Reflect.apply(emitWarning, process, [warning, ...rest]);
    }
  };
  process.emitWarning = filtered as typeof process.emitWarning;
  try {
    return await load();
  } finally {
    if (process.emitWarning === filtered) process.emitWarning = emitWarning;
  }
}
