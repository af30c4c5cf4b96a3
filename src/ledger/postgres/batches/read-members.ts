import type { BatchId, Ledger } from '../../ledger.ts';
import { MEMBER_COLUMNS, type MemberRow, memberPage } from '../../sql/members.ts';
import type { Store } from '../connection/store.ts';
import { readAnswers } from '../requests/answers.ts';

/** Pages of members with their answers. */
export function prepareReadMembers(store: Store): Ledger['members'] {
  return (token, { from = 0, limit }) =>
    store.read(async (session) => {
      const [batch] = await session.rows<{ id: BatchId }>('SELECT id FROM batch WHERE token = $1', [
        token,
      ]);
      if (!batch) return { members: [] };
      const rows = await session.rows<MemberRow>(
        `SELECT ${MEMBER_COLUMNS} FROM request WHERE batch = $1 AND seq >= $2 ORDER BY seq LIMIT $3`,
        [batch.id, from, limit + 1],
      );
      const page = rows.slice(0, limit).map(({ request }) => request);
      const answers = await readAnswers(session, page);
      return memberPage(rows, limit, ({ request }) => answers.get(request));
    });
}
