import type { Ledger } from '../../ledger.ts';
import { type SummaryRow, selectSummaries, statesOf, summarise } from '../../sql/batch-summary.ts';
import type { Store } from '../connection/store.ts';

const SELECT = selectSummaries('answered');

export function prepareList(store: Store): Ledger['list'] {
  return async ({ open, limit = null } = {}) => {
    const rows = await store.read((session) =>
      session.rows<SummaryRow>(
        `${SELECT} WHERE state BETWEEN $1 AND $2 ORDER BY batch.id DESC LIMIT $3`,
        [...statesOf(open), limit],
      ),
    );
    return rows.map(summarise);
  };
}

export function prepareShow(store: Store): Ledger['show'] {
  return async (id) => {
    const [row] = await store.read((session) =>
      session.rows<SummaryRow>(
        `${SELECT} WHERE token = $1 OR remote_id = $1 ORDER BY batch.id DESC LIMIT 1`,
        [id],
      ),
    );
    return row && summarise(row);
  };
}
