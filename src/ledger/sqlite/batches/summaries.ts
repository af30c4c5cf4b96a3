import type { Ledger } from '../../ledger.ts';
import { type SummaryRow, selectSummaries, statesOf, summarise } from '../../sql/batch-summary.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';

/** Answers that the rows of their requests do not name yet, see `NewAnswers`. */
const NEWLY_ANSWERED = `
  SELECT count(DISTINCT request.id)
  FROM answer_new JOIN answer ON answer.id = answer_new.answer
    CROSS JOIN json_each(answer.request) AS member CROSS JOIN request ON request.id = member.value
  WHERE answer_new.batch = batch.id AND +request.batch = batch.id
    AND request.state = ${REQUEST.planned}`;

const SELECT = selectSummaries(`answered + (${NEWLY_ANSWERED})`);

export function prepareList(store: Store): Ledger['list'] {
  const list = store.prepare(
    `${SELECT} WHERE state BETWEEN ? AND ? ORDER BY batch.id DESC LIMIT ?`,
  );
  return async ({ open, limit = -1 } = {}) => {
    const rows = await store.read(() => list.all(...statesOf(open), limit));
    return (rows as SummaryRow[]).map(summarise);
  };
}

export function prepareShow(store: Store): Ledger['show'] {
  const find = store.prepare(
    `${SELECT} WHERE (token = ? OR remote_id = ?) AND state <> ${BATCH.planning}
     ORDER BY batch.id DESC LIMIT 1`,
  );
  return async (id) => {
    const row = (await store.read(() => find.get(id, id))) as SummaryRow | undefined;
    return row && summarise(row);
  };
}
