import type { MemberTally } from '../../view.ts';
import { REQUEST } from '../codes.ts';
import type { SqlReader } from './sql-view.ts';

const membersAtOnce = 5_000;

export async function readTally(reader: SqlReader, token: string): Promise<MemberTally> {
  const tally = { planned: 0, answered: 0, failed: 0 };
  const [batch] = await reader.rows<{ id: number; count: number }>(
    'SELECT id, count FROM batch WHERE token = ?',
    [token],
  );
  if (batch === undefined) return tally;
  for (let seq = 0; seq < batch.count; seq += membersAtOnce) {
    const rows = await reader.rows<{ state: number; members: number }>(
      `SELECT state, count(*) AS members FROM request
       WHERE batch = ? AND seq >= ? AND seq < ? GROUP BY state`,
      [batch.id, seq, seq + membersAtOnce],
    );
    for (const { state, members } of rows) {
      if (state === REQUEST.planned) tally.planned += members;
      else if (state === REQUEST.answered) tally.answered += members;
      else if (state === REQUEST.failed) tally.failed += members;
    }
  }
  if (tally.planned === 0) return tally;
  const { answered, failed } = await reader.newOutcomes(batch.id);
  const newly = Math.min(tally.planned, answered + failed);
  const newlyFailed = Math.min(newly, failed);
  tally.planned -= newly;
  tally.failed += newlyFailed;
  tally.answered += newly - newlyFailed;
  return tally;
}
