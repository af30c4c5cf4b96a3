import type { Answer } from '../../base/types.ts';
import type { RequestId } from '../records.ts';

export type Value = null | number | boolean | string | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

interface Table {
  readonly columns: readonly string[];
  /** Rows are read in this order, page by page. */
  readonly key: readonly string[];
}

const ids = (...columns: string[]): Table => ({ columns: ['id', ...columns], key: ['id'] });

/** The tables that all stores have under the same names. Requests, with their answers and bodies, are apart. */
export const tables = {
  owner: ids('run', 'host', 'pid', 'joined_at', 'closed_at'),
  account: ids('provider', 'hash', 'hint'),
  queue: ids('hash', 'account', 'provider', 'base', 'endpoint', 'model', 'headers', 'partition'),
  learnt_limit: {
    columns: ['account', 'quota', 'tokens', 'named', 'learnt_at'],
    key: ['account', 'quota'],
  },
  batch: ids(
    ...['token', 'queue', 'run', 'owner', 'epoch', 'state', 'count', 'answered', 'name', 'tags'],
    ...['handle', 'remote_id', 'raw', 'counts', 'cursor', 'failure', 'estimate', 'paid', 'saved'],
    ...['input_tokens', 'output_tokens', 'counted', 'traces'],
    ...['created_at', 'creating_at', 'accepted_at', 'ended_at'],
  ),
  run_count: { columns: ['run', 'fp', 'n'], key: ['run', 'fp'] },
  outbox: { columns: ['id', 'target', 'body', 'at', 'due_at', 'attempt'], key: ['id'] },
  run_cost: { columns: ['run', 'realtime'], key: ['run'] },
  daily_cost: {
    columns: [
      ...['day', 'provider', 'model', 'lane', 'name', 'tags', 'calls', 'unpriced', 'input_tokens'],
      ...['output_tokens', 'cache_read_tokens', 'cache_write_tokens', 'paid', 'saved', 'estimate'],
    ],
    key: ['day', 'provider', 'model', 'lane', 'name', 'tags'],
  },
} satisfies Record<string, Table>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as TableName[];

export const requestColumns = [
  ...['id', 'fp', 'occ', 'generation', 'queue', 'owner', 'batch', 'seq', 'state', 'attempt', 'at'],
] as const;

export interface StoredRequest {
  readonly id: RequestId;
  /** By `requestColumns`. */
  readonly row: Row;
  readonly answer?: Answer;
  readonly body?: string;
}

/** Everything that a ledger holds, which stays as it is until `close`: nobody can join meanwhile. */
export interface ContentsReader {
  readonly salt: Uint8Array;
  countRequests(): Promise<number>;
  rows(table: TableName): AsyncIterable<readonly Row[]>;
  requests(): AsyncIterable<readonly StoredRequest[]>;
  close(): Promise<void>;
}

/** An empty ledger that gets its contents. Before `finish` nobody sees any of them. */
export interface ContentsWriter {
  salt(salt: Uint8Array): Promise<void>;
  rows(table: TableName, rows: readonly Row[]): Promise<void>;
  requests(requests: readonly StoredRequest[]): Promise<void>;
  /** Durable when it has resolved. */
  finish(): Promise<void>;
  /** Without `finish` before, the ledger is empty again. */
  close(): Promise<void>;
}

export const ROWS_PER_PAGE = 1_000;
/** The size of the answers and bodies of a page, which has at least one request. */
export const BYTES_PER_PAGE = 4_000_000;

/** Reads a table in the order of its key, one page after the other. */
export async function* pagesOf(
  { key }: Table,
  read: (after: readonly Value[] | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let after: Value[] | undefined;
  for (;;) {
    const rows = await read(after);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_PER_PAGE) return;
    const last = rows.at(-1) as Row;
    after = key.map((column) => last[column] as Value);
  }
}
