import type { BatchId, OwnerId, RequestId } from '../ledger.ts';
import { type BlockId, prepareAnswers } from './answers.ts';
import { REQUEST } from './codes.ts';
import { nextTurn, ROWS_PER_TRANSACTION } from './slices.ts';
import type { Store } from './store.ts';

export interface Dropped {
  requests: number;
  bytes: number;
  readonly batches: Set<BatchId>;
}

export interface PruneRequests {
  readonly alive: readonly OwnerId[];
  readonly states: 'final' | 'all-but-planned';
  readonly before: number;
  /** Asked before each slice. */
  readonly isEnough: () => boolean;
}

interface OldRow {
  readonly id: RequestId;
  readonly batch: BatchId | null;
  readonly answer: BlockId | null;
  readonly bytes: number;
}

/** The table is walked in steps of this many ids, so that no step is long when little is found. */
const IDS_AT_ONCE = 10_000;

/** Drops requests in the order in which they were first asked, oldest first. */
export function preparePruneRequests(
  store: Store,
): (query: PruneRequests, dropped: Dropped) => Promise<void> {
  const answers = prepareAnswers(store);
  const bounds = store.prepare(
    'SELECT coalesce(min(id), 1) AS first, coalesce(max(id), 0) AS last FROM request',
  );
  const select = store.prepare(
    `SELECT request.id, batch, request.answer,
       coalesce(octet_length(answer.body) / json_array_length(answer.request), 0)
         + coalesce(octet_length(body.body), 0) AS bytes
     FROM request
       LEFT JOIN answer ON answer.id = request.answer
       LEFT JOIN body ON body.request = request.id
     WHERE request.id BETWEEN ? AND ? AND at < ? AND state >= ? AND state <> ${REQUEST.planned}
       AND owner NOT IN (SELECT value FROM json_each(?))
     ORDER BY request.id LIMIT ${ROWS_PER_TRANSACTION}`,
  );
  const removals = ['DELETE FROM body WHERE request = ?', 'DELETE FROM request WHERE id = ?'].map(
    (sql) => store.prepare(sql),
  );

  const remove = (rows: OldRow[]) => {
    for (const { id } of rows) for (const removal of removals) removal.run(id);
    for (const block of new Set(rows.map(({ answer }) => answer))) answers.eraseUnused(block);
    return rows;
  };

  return async ({ alive, states, before, isEnough }, dropped) => {
    const least = states === 'final' ? REQUEST.answered : REQUEST.admitted;
    const owners = JSON.stringify(alive);
    const { first, last } = (await store.read(() => bounds.get())) as {
      first: number;
      last: number;
    };
    for (let from = first; from <= last; await nextTurn()) {
      if (await store.read(isEnough)) return;
      const to = from + IDS_AT_ONCE - 1;
      const find = () => select.all(from, to, before, least, owners) as OldRow[];
      const any = await store.read(() => find().length > 0);
      // Asked again under the lock: another process may have taken one up since.
      const rows = any ? await store.write(() => remove(find())) : [];
      for (const { batch, bytes } of rows) {
        dropped.requests += 1;
        dropped.bytes += bytes;
        if (batch !== null) dropped.batches.add(batch);
      }
      from = rows.length < ROWS_PER_TRANSACTION ? to + 1 : (rows.at(-1) as OldRow).id + 1;
    }
  };
}
