import type { BatchId, Ledger, MemberSummary, RequestId } from '../../ledger.ts';
import { requestState } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import { readAnswers } from '../requests/answers.ts';

interface Row {
  readonly id: RequestId;
  readonly fingerprint: Uint8Array;
  readonly occurrence: number;
  readonly attempt: number;
  readonly state: number;
  readonly at: number;
  readonly seq: number;
}

/** Pages of members with their answers. */
export function prepareReadMembers(store: Store): Ledger['members'] {
  return (token, { from = 0, limit }) =>
    store.read(async (session) => {
      const [batch] = await session.rows<{ id: BatchId }>('SELECT id FROM batch WHERE token = $1', [
        token,
      ]);
      if (!batch) return { members: [] };
      const rows = await session.rows<Row>(
        `SELECT id, fp AS fingerprint, occ AS occurrence, attempt, state, at, seq
         FROM request WHERE batch = $1 AND seq >= $2 ORDER BY seq LIMIT $3`,
        [batch.id, from, limit + 1],
      );
      const page = rows.slice(0, limit);
      const answers = await readAnswers(
        session,
        page.map(({ id }) => id),
      );
      const members = page.map(({ id, state, seq: _, ...rest }): MemberSummary => {
        const answer = answers.get(id);
        return {
          request: id,
          ...rest,
          state: requestState(state) as MemberSummary['state'],
          ...(answer && { answer }),
        };
      });
      const next = rows[limit]?.seq;
      return { members, ...(next !== undefined && { next }) };
    });
}
