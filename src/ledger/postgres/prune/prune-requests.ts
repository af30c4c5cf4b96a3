import type { RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { DroppedRow } from '../../sql/dropped.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';

export interface OldRequests {
  readonly states: 'final' | 'all-but-planned';
  /** Came into their state at this moment or later. */
  readonly since: number;
  readonly before: number;
  readonly after: RequestId;
  /** Nothing more is dropped once so many bytes are gone. */
  readonly bytes: number;
}

export interface DroppedRequest extends DroppedRow {
  readonly id: RequestId;
}

export const DROPPED_PER_TRANSACTION = 1_000;

/** SQL: how many bytes the answer and the body of a row of `request` have. */
const BYTES = `
  coalesce((SELECT octet_length(body) + octet_length(headers) FROM answer WHERE answer.request = request.id), 0)
    + coalesce((SELECT octet_length(body) FROM body WHERE body.request = request.id), 0)`;

/** SQL: the oldest requests after an id, and how many bytes would be gone before each. */
const old = (lock: '' | 'FOR UPDATE SKIP LOCKED') => `
  WITH old AS (
    SELECT id, batch, ${BYTES} AS bytes FROM request
    WHERE id > $1 AND at >= $2 AND at < $3 AND state >= $4 AND state <> ${REQUEST.planned}
      AND owner NOT IN ${ALIVE_OWNERS}
    ORDER BY id LIMIT ${DROPPED_PER_TRANSACTION} ${lock}
  ), counted AS (
    SELECT id, batch, bytes::bigint, sum(bytes) OVER (ORDER BY id) - bytes AS gone FROM old
  )`;

function valuesOf({ states, since, before, after, bytes }: OldRequests): number[] {
  const least = states === 'final' ? REQUEST.answered : REQUEST.admitted;
  return [after, since, before, least, bytes];
}

/**
 * Drops some requests after an id, the oldest first. A request that another process is about to take up is
 * locked by it, and is skipped.
 */
export function dropRequests(session: Session, query: OldRequests): Promise<DroppedRequest[]> {
  return session.rows(
    `${old('FOR UPDATE SKIP LOCKED')}, removed AS (
       DELETE FROM request USING counted WHERE request.id = counted.id AND gone < $5
       RETURNING request.id, counted.batch, counted.bytes
     ), answers AS (
       DELETE FROM answer USING removed WHERE answer.request = removed.id
     ), bodies AS (
       DELETE FROM body USING removed WHERE body.request = removed.id
     )
     SELECT id, batch, bytes FROM removed ORDER BY id`,
    valuesOf(query),
  );
}

/** Finds the requests that `dropRequests` would drop. Writes nothing. */
export function findRequests(session: Session, query: OldRequests): Promise<DroppedRequest[]> {
  return session.rows(
    `${old('')} SELECT id, batch, bytes FROM counted WHERE gone < $5 ORDER BY id`,
    valuesOf(query),
  );
}

/** How many bytes answers and bodies have together. */
export async function storedBytes(session: Session): Promise<number> {
  const [row] = await session.rows<{ bytes: number }>(
    `SELECT (coalesce((SELECT sum(octet_length(body) + octet_length(headers)) FROM answer), 0)
       + coalesce((SELECT sum(octet_length(body)) FROM body), 0))::bigint AS bytes`,
  );
  return row?.bytes ?? 0;
}
