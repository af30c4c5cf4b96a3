import type { Database, SqliteValue, Statement } from './driver.ts';

/**
 * A statement that is prepared when it is first run. A ledger has more than a hundred of them, of which
 * most programs need a few, and preparing them all at once would take longer than opening the file.
 */
export class LateStatement implements Statement {
  readonly #database: Database;
  readonly #sql: string;
  #prepared: Statement | undefined;

  constructor(database: Database, sql: string) {
    this.#database = database;
    this.#sql = sql;
  }

  run(...values: SqliteValue[]): ReturnType<Statement['run']> {
    return this.#statement.run(...values);
  }

  get(...values: SqliteValue[]): unknown {
    return this.#statement.get(...values);
  }

  all(...values: SqliteValue[]): unknown[] {
    return this.#statement.all(...values);
  }

  get #statement(): Statement {
    this.#prepared ??= this.#database.prepare(this.#sql);
    return this.#prepared;
  }
}
