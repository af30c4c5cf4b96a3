import { BATCH } from '../../sql/codes.ts';
import type { Dropped } from '../../sql/dropped.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';

/** SQL: finished batches that are old, or that lost members. */
const FINISHED = `
  state >= ${BATCH.ended} AND (ended_at < $1 OR id = ANY($2::bigint[])) AND owner NOT IN ${ALIVE_OWNERS}`;

/** Drops finished batches without members: old ones, and those that just lost their last member. */
export function dropBatches(
  session: Session,
  before: number,
  lost: Dropped['batches'],
): Promise<number> {
  return session.run(
    `DELETE FROM batch
     WHERE ${FINISHED} AND NOT EXISTS (SELECT 1 FROM request WHERE request.batch = batch.id)`,
    [before, [...lost.keys()]],
  );
}

/** How many `dropBatches` would drop once the members are lost. Writes nothing. */
export async function countBatches(
  session: Session,
  before: number,
  lost: Dropped['batches'],
): Promise<number> {
  const [row] = await session.rows<{ batches: number }>(
    `SELECT count(*) AS batches FROM batch
       LEFT JOIN unnest($2::bigint[], $3::int[]) AS lost (batch, members) ON lost.batch = batch.id
     WHERE ${FINISHED} AND (SELECT count(*) FROM request WHERE request.batch = batch.id)
       = coalesce(lost.members, 0)`,
    [before, [...lost.keys()], [...lost.values()]],
  );
  return row?.batches ?? 0;
}
