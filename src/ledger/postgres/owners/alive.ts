import type { OwnerInfo } from '../../ledger.ts';
import type { Session } from '../connection/store.ts';

/** SQL: whether a row of `owner` is here. */
export const ALIVE = '(closed_at IS NULL AND lease_until > clock_timestamp())';

/** SQL: ids of owners that are here. */
export const ALIVE_OWNERS = `(SELECT id FROM owner WHERE ${ALIVE})`;

/** An owner that is here, if there is one. */
export async function findAlive(session: Pick<Session, 'rows'>) {
  const [here] = await session.rows<Pick<OwnerInfo, 'host' | 'pid'>>(
    `SELECT host, pid FROM owner WHERE ${ALIVE} LIMIT 1`,
  );
  return here;
}
