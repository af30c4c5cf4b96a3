import type { Ledger, OwnerId, RequestId } from '../../ledger.ts';
import { type OwnerInfoRow, ownerInfo } from '../../sql/owner-info.ts';
import { type SqlReader, sqlView } from '../../sql/view/sql-view.ts';
import type { LedgerView } from '../../view.ts';
import type { Pulse } from '../connection/pulse.ts';
import type { Store } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';
import { readAnswers } from '../requests/answers.ts';

export function prepareRows(store: Store): SqlReader['rows'] {
  return (sql, values) => store.rows(numbered(sql), values);
}

export function postgresView(
  store: Store,
  pulse: Pulse,
  bodies: Ledger['bodies'],
  rows: SqlReader['rows'],
): LedgerView {
  return sqlView({
    rows,
    async answers(asked) {
      const ids = asked.map(({ id }) => id);
      const found = await store.read((session) => readAnswers(session, ids));
      return new Map([...found].map(([id, answer]) => [id, { answer }]));
    },
    newOutcomes: async () => ({ answered: 0, failed: 0 }),
    async failedIds(limit) {
      const found = await rows<{ request: RequestId }>(
        `SELECT request FROM answer WHERE status NOT BETWEEN 200 AND 299
         ORDER BY request DESC LIMIT ?`,
        [limit],
      );
      return found.map(({ request }) => request);
    },
    async alikeIds(id) {
      const found = await rows<{ id: RequestId }>(
        'SELECT id FROM request WHERE fp = (SELECT fp FROM request WHERE id = ?) LIMIT 1000',
        [id],
      );
      return found.map((row) => row.id);
    },
    inNoBatch: 'batch IS NULL',
    // The server may be far away: each further statement takes a turn of the network.
    waitingAtOnce: 100_000,
    async livingOwners(ids) {
      const found = await rows<OwnerInfoRow & { id: OwnerId }>(
        `SELECT id, run, host, pid, troubles FROM owner WHERE id IN (${ids.join()}) AND ${ALIVE}`,
      );
      return new Map(found.map((row) => [row.id, ownerInfo(row)]));
    },
    bodies,
    async changed() {
      // Whoever has joined is told of changes; a reader asks to be told.
      await store.persist(() => pulse.start());
      return pulse.changed();
    },
  });
}

/** `?` becomes `$1`, `$2` … in the order of the values. */
function numbered(sql: string): string {
  let last = 0;
  return sql.replaceAll('?', () => {
    last += 1;
    return `$${last}`;
  });
}
