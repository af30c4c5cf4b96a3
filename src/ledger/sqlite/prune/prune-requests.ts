import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { OwnerId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { countDropped, type Dropped, type DroppedRow } from '../../sql/dropped.ts';
import { inSlices } from '../../sql/slices.ts';
import { type BlockId, prepareAnswers } from '../answers/answers.ts';
import type { Store } from '../connection/store.ts';
import { prepareIdRange } from './id-range.ts';

export interface OldRequests {
  readonly alive: readonly OwnerId[];
  readonly states: 'final' | 'all-but-planned';
  /** Came into their state at this moment or later. */
  readonly since: number;
  readonly before: number;
  /** How many bytes are to go; nothing more is dropped when it is not above zero. */
  readonly excess: () => number;
  /** Nothing is dropped, only counted. */
  readonly dryRun: boolean;
}

interface OldRow extends DroppedRow {
  readonly id: RequestId;
  readonly answer: BlockId | null;
  /** The beginning of its fingerprint: entries with similar ones lie together in `identity`. */
  readonly prefix: string;
}

/** The table is walked in steps of this many ids, so that no step is long when little is found. */
const IDS_AT_ONCE = 10_000;
const ROWS_READ_AT_ONCE = 1_000;
/** So many that they share pages of `identity`. */
const DROPPED_TOGETHER = 10_000;
/** A dropped row may be the last one of its block of answers, which is then erased. */
const DROPPED_PER_TRANSACTION = 100;
/** Fewer are dropped in one step. */
const WORTH_HIDING = 1_000;

/** SQL: whether a row of `request` is to be dropped, by the four `valuesOf` a query. */
const IS_OLD = `at >= ? AND at < ? AND state >= ? AND state <> ${REQUEST.planned}
  AND owner NOT IN (SELECT value FROM json_each(?))`;

function valuesOf(query: OldRequests): [number, number, number, string] {
  const { alive, states, since, before } = query;
  const least = states === 'final' ? REQUEST.answered : REQUEST.admitted;
  return [since, before, least, JSON.stringify(alive)];
}

/**
 * Drops requests in the order in which they were first asked, oldest first. Thousands of them are
 * dropped in two steps: first they leave `identity`, in the order of their fingerprints, then they are
 * dropped in the order of their ids. In one step each of them would write a page of its own, because
 * fingerprints are random.
 *
 * Between the steps no process finds them, so none takes one up. After a crash in between the rows are
 * still there, and the next prune drops them.
 */
export function preparePruneRequests(
  store: Store,
): (query: OldRequests, dropped: Dropped) => Promise<void> {
  const answers = prepareAnswers(store);
  const rangeOf = prepareIdRange(store, 'request');
  const select = store.prepare(
    `SELECT request.id, batch, request.answer, hex(substr(fp, 1, 2)) AS prefix,
       coalesce(octet_length(answer.body) / json_array_length(answer.request), 0)
         + coalesce(octet_length(body.body), 0) AS bytes
     FROM request
       LEFT JOIN answer ON answer.id = request.answer
       LEFT JOIN body ON body.request = request.id
     WHERE request.id BETWEEN ? AND ? AND ${IS_OLD}
     ORDER BY request.id LIMIT ?`,
  );
  const hiding = ['identity', 'identity_new'].map((table) =>
    store.prepare(
      `DELETE FROM ${table} WHERE (prefix, occ, request) IN (
         SELECT substr(fp, 1, 6), occ, id FROM request
         WHERE id IN (SELECT value FROM json_each(?)) AND ${IS_OLD}
       )`,
    ),
  );
  const removals = ['DELETE FROM body WHERE request = ?', 'DELETE FROM request WHERE id = ?'].map(
    (sql) => store.prepare(sql),
  );
  const read = (query: OldRequests, from: number, to: number, most: number) =>
    select.all(from, to, ...valuesOf(query), most) as OldRow[];

  const find = async (query: OldRequests, from: number, to: number) => {
    // Only half of what has to go is dropped at a time: pages hold less than they have room for.
    const enough = (await store.read(query.excess)) / 2;
    const found: OldRow[] = [];
    let bytes = 0;
    let next = from;
    while (next <= to && found.length < DROPPED_TOGETHER && bytes < enough) {
      const until = Math.min(next + IDS_AT_ONCE - 1, to);
      const rows = await store.read(() => read(query, next, until, ROWS_READ_AT_ONCE));
      for (const row of rows) {
        found.push(row);
        bytes += row.bytes;
      }
      next = rows.length < ROWS_READ_AT_ONCE ? until + 1 : (rows.at(-1) as OldRow).id + 1;
      await nextTurn();
    }
    return { rows: found, next };
  };
  // Both steps ask again under the lock what is old: another process may have taken a request up since.
  const hide = (query: OldRequests, rows: readonly OldRow[]) => {
    const sorted = [...rows].sort((a, b) => (a.prefix < b.prefix ? -1 : 1)).map(({ id }) => id);
    return inSlices(sorted, (slice) =>
      store.write(() => {
        for (const removal of hiding) removal.run(JSON.stringify(slice), ...valuesOf(query));
      }),
    );
  };
  const remove = (query: OldRequests, slice: readonly OldRow[]): OldRow[] => {
    const [from, to] = [slice[0] as OldRow, slice.at(-1) as OldRow];
    const rows = read(query, from.id, to.id, slice.length);
    for (const { id } of rows) for (const removal of removals) removal.run(id);
    for (const block of new Set(rows.map(({ answer }) => answer))) answers.eraseUnused(block);
    return rows;
  };
  const drop = async (query: OldRequests, slice: readonly OldRow[], dropped: Dropped) => {
    countDropped(await store.write(() => remove(query, slice)), dropped);
  };

  return async (query, dropped) => {
    const { first, last } = await rangeOf();
    for (let from = first; from <= last; ) {
      const { rows, next } = await find(query, from, last);
      // Enough is gone.
      if (next === from) return;
      if (query.dryRun) countDropped(rows, dropped);
      else if (rows.length >= WORTH_HIDING) await hide(query, rows);
      if (rows.length > 0 && !query.dryRun) {
        await inSlices(rows, (slice) => drop(query, slice, dropped), {
          rows: DROPPED_PER_TRANSACTION,
          sizeOf: ({ bytes }) => bytes,
        });
      }
      from = next;
    }
  };
}
