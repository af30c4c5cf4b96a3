import type { Answer } from '../../../base/types.ts';
import type { Ledger, OwnerInfo, RequestId } from '../../ledger.ts';
import type { LedgerView } from '../../view.ts';
import { type FoundRow, foundRequest, selectFound } from './found-request.ts';
import { readBatches } from './read-batches.ts';
import { readTally } from './read-tally.ts';
import { readWaiting } from './read-waiting.ts';

export type SqlValue = string | number | null;

/** What the two SQL ledgers do in their own way. `?` stands for a value in all statements. */
export interface SqlReader {
  /** One short read. SQLite blocks the event loop meanwhile, and lets it turn afterwards. */
  rows<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]>;
  /** Answers of these requests, with the state and the moment of those that the rows do not name yet. */
  answers(rows: readonly FoundRow[]): Promise<Map<RequestId, FoundAnswer>>;
  /** How many members of a batch have an outcome that the rows do not name yet, by state. */
  newOutcomes(batch: number): Promise<{ answered: number; failed: number }>;
  /** The newest requests whose answer is an error, as far as their answers tell: some may be none. */
  failedIds(limit: number): Promise<readonly RequestId[]>;
  /** Requests that may have the fingerprint of this one. */
  alikeIds(id: RequestId): Promise<readonly RequestId[]>;
  /** SQL: the condition of the index `request_waiting`. */
  readonly inNoBatch: string;
  /** How many requests of that index one statement looks at. */
  readonly waitingAtOnce: number;
  livingOwners(ids: readonly number[]): Promise<Map<number, OwnerInfo>>;
  readonly bodies: Ledger['bodies'];
  changed(): Promise<number>;
}

export interface FoundAnswer {
  readonly answer: Answer;
  readonly state?: number;
  readonly at?: number;
}

const mostSamples = 100;

export function sqlView(reader: SqlReader): LedgerView {
  const found = async (rows: readonly FoundRow[], withBodies: boolean) => {
    const answers = await reader.answers(rows);
    const bodies = withBodies ? await reader.bodies(rows.map(({ id }) => id)) : undefined;
    return rows.map((row) => foundRequest(row, answers.get(row.id), bodies?.get(row.id)));
  };
  const byIds = async (ids: readonly RequestId[]) => {
    const rows: FoundRow[] = [];
    for (let at = 0; at < ids.length; at += 200) {
      const some = ids.slice(at, at + 200);
      const places = some.map(() => '?').join();
      rows.push(...(await reader.rows<FoundRow>(selectFound(`request.id IN (${places})`), some)));
    }
    return rows.sort((one, other) => other.id - one.id);
  };
  return {
    changed: () => reader.changed(),
    batches: (query) => readBatches(reader, query),
    models: () =>
      reader.rows('SELECT DISTINCT provider, model FROM queue ORDER BY provider, model'),
    tally: (token) => readTally(reader, token),
    waiting: () => readWaiting(reader),
    async failed(limit) {
      const rows = await byIds(await reader.failedIds(limit));
      const all = await found(rows, false);
      return all.filter(({ state }) => state === 'failed');
    },
    async request(id) {
      const [one] = await found(await byIds([id]), true);
      return one;
    },
    async samples(id) {
      const [asked] = await byIds([id]);
      if (asked === undefined) return [];
      const rows = await byIds(await reader.alikeIds(id));
      const alike = rows
        .filter(({ fp }) => Buffer.compare(fp, asked.fp) === 0)
        .sort((a, b) => a.occ - b.occ || a.generation - b.generation);
      return found(alike.slice(0, mostSamples), false);
    },
    async requests({ before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = await reader.rows<FoundRow>(
        `${selectFound('request.id < ?')} ORDER BY request.id DESC LIMIT ?`,
        [before, limit],
      );
      return found(rows, true);
    },
  };
}
