import type { BatchId, Ledger, RequestId } from '../../ledger.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import { MEMBER_COLUMNS, type MemberRow, memberPage } from '../../sql/members.ts';
import { type BlockId, prepareAnswers } from '../answers/answers.ts';
import type { Store } from '../connection/store.ts';

type Row = MemberRow & { readonly answer: BlockId | null };

/** A block of answers that the rows of their requests do not name yet: see `NewAnswers`. */
export interface NewRow {
  readonly block: BlockId;
  readonly state: number;
  readonly at: number;
  /** A JSON list. */
  readonly requests: string;
}

/** Pages of members with their answers, those included that the rows do not name yet: see `NewAnswers`. */
export function prepareReadMembers(store: Store): Ledger['members'] {
  const answers = prepareAnswers(store);
  const find = store.prepare(`SELECT id FROM batch WHERE token = ? AND state <> ${BATCH.planning}`);
  const select = store.prepare(
    `SELECT ${MEMBER_COLUMNS}, answer FROM request
     WHERE batch = ? AND seq >= ? ORDER BY seq LIMIT ?`,
  );
  const selectNew = store.prepare(
    `SELECT answer_new.answer AS block, answer_new.state, answer_new.at, answer.request AS requests
     FROM answer_new JOIN answer ON answer.id = answer_new.answer
     WHERE answer_new.batch = ? ORDER BY answer_new.id`,
  );

  /** The newest answer is read first, so that the oldest, which counts, is what stays. */
  const newAnswers = (batch: BatchId) => {
    const found = new Map<RequestId, NewRow>();
    for (const row of (selectNew.all(batch) as NewRow[]).reverse()) {
      for (const request of JSON.parse(row.requests) as RequestId[]) found.set(request, row);
    }
    return found;
  };
  const read = (batch: BatchId, from: number, limit: number) => {
    const rows = select.all(batch, from, limit + 1) as Row[];
    const isPlanned = rows.some(({ state }) => state === REQUEST.planned);
    const fresh = isPlanned ? newAnswers(batch) : undefined;
    const answerOf = answers.finder();
    const shown = rows.map((row) => {
      const late = row.state === REQUEST.planned ? fresh?.get(row.request) : undefined;
      return late ? { ...row, state: late.state, at: late.at, answer: late.block } : row;
    });
    return memberPage(shown, limit, ({ request, answer }) => answerOf({ id: request, answer }));
  };

  return (token, { from = 0, limit }) =>
    store.read(() => {
      const batch = find.get(token) as { id: BatchId } | undefined;
      return batch ? read(batch.id, from, limit) : { members: [] };
    });
}
