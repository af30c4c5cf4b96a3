import type { BatchId } from '../../ledger.ts';
import { prepareAnswers } from '../answers/answers.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareHideRequests } from '../requests/hide-requests.ts';
import { type OldRequests, type OldRow, prepareReadOld } from '../requests/old-requests.ts';

export interface Dropped {
  requests: number;
  bytes: number;
  readonly batches: Set<BatchId>;
}

export interface PruneRequests extends OldRequests {
  /** How many bytes are to go; nothing more is dropped when it is not above zero. */
  readonly excess: () => number;
}

/** The table is walked in steps of this many ids, so that no step is long when little is found. */
const IDS_AT_ONCE = 10_000;
/** So many that they share pages of the identities. */
const DROPPED_TOGETHER = 20_000;

/** Drops requests in the order in which they were first asked, oldest first. */
export function preparePruneRequests(
  store: Store,
): (query: PruneRequests, dropped: Dropped) => Promise<void> {
  const answers = prepareAnswers(store);
  const readOld = prepareReadOld(store);
  const hide = prepareHideRequests(store);
  // Asked for in one query of their own, both ends would be looked for in the whole table.
  const bounds = store.prepare(
    `SELECT coalesce((SELECT min(id) FROM request), 1) AS first,
       coalesce((SELECT max(id) FROM request), 0) AS last`,
  );
  const removals = ['DELETE FROM body WHERE request = ?', 'DELETE FROM request WHERE id = ?'].map(
    (sql) => store.prepare(sql),
  );

  const remove = (rows: readonly OldRow[]) => {
    for (const { id } of rows) for (const removal of removals) removal.run(id);
    for (const block of new Set(rows.map(({ answer }) => answer))) answers.eraseUnused(block);
    return rows;
  };
  const find = async (query: PruneRequests, from: number, to: number) => {
    const pace = new Pace({ least: 50, most: 2_000 });
    // Of what has to go only half at a time: pages hold less than they have room for.
    const enough = (await store.read(query.excess)) / 2;
    const found: OldRow[] = [];
    let bytes = 0;
    let next = from;
    while (next <= to && found.length < DROPPED_TOGETHER && bytes < enough) {
      const until = Math.min(next + IDS_AT_ONCE - 1, to);
      const most = pace.rows;
      const rows = await store.read(() => readOld(query, next, until, most), { pace });
      for (const row of rows) {
        found.push(row);
        bytes += row.bytes;
      }
      next = rows.length < most ? until + 1 : (rows.at(-1) as OldRow).id + 1;
      await nextTurn();
    }
    return { rows: found, next };
  };
  const drop = async (query: PruneRequests, found: readonly OldRow[], dropped: Dropped) => {
    const pace = new Pace({ least: 20, most: 500 });
    for (let at = 0; at < found.length; await nextTurn()) {
      const slice = found.slice(at, at + pace.rows);
      at += slice.length;
      const [from, to] = [slice[0] as OldRow, slice.at(-1) as OldRow];
      // Asked again under the lock: another process may have taken one up since.
      const work = () => remove(readOld(query, from.id, to.id, slice.length));
      const rows = await store.write(work, { pace });
      for (const { batch, bytes } of rows) {
        dropped.requests += 1;
        dropped.bytes += bytes;
        if (batch !== null) dropped.batches.add(batch);
      }
    }
  };

  return async (query, dropped) => {
    const { first, last } = (await store.read(() => bounds.get())) as {
      first: number;
      last: number;
    };
    for (let from = first; from <= last; ) {
      const { rows, next } = await find(query, from, last);
      // Enough is gone.
      if (next === from) return;
      await hide(query, rows);
      await drop(query, rows, dropped);
      from = next;
    }
  };
}
