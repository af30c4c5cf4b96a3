import type { Ledger } from '../../ledger.ts';
import { type SummaryRow, summarise } from '../../sql/batch-summary.ts';
import { BATCH } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';

const SELECT = `
  SELECT token, state, queue.provider, endpoint, model, base, name, tags, run, remote_id, raw, counts,
    count, answered, failure, estimate, paid, saved, input_tokens, output_tokens,
    created_at, accepted_at, ended_at
  FROM batch JOIN queue ON queue.id = batch.queue`;

export function prepareList(store: Store): Ledger['list'] {
  return async ({ open, limit = null } = {}) => {
    const from = open === false ? BATCH.ended : BATCH.planned;
    const to = open === true ? BATCH.accepted : BATCH.released;
    const rows = await store.read((session) =>
      session.rows<SummaryRow>(
        `${SELECT} WHERE state BETWEEN $1 AND $2 ORDER BY batch.id DESC LIMIT $3`,
        [from, to, limit],
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
