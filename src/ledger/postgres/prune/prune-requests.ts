import type { BatchId, RequestId } from '../../ledger.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';
import { REQUEST } from '../schema/codes.ts';

export interface OldRequests {
  readonly states: 'final' | 'all-but-planned';
  /** Came into their state before this moment. */
  readonly before: number;
  readonly after: RequestId;
  /** Nothing more is dropped once so many bytes are gone. */
  readonly bytes: number;
}

export interface DroppedRequest {
  readonly id: RequestId;
  readonly batch: BatchId | null;
  readonly bytes: number;
}

export const DROPPED_PER_TRANSACTION = 1_000;

/** SQL: how many bytes the answer and the body of a row of `request` have. */
const BYTES = `
  coalesce((SELECT octet_length(body) + octet_length(headers) FROM answer WHERE answer.request = request.id), 0)
    + coalesce((SELECT octet_length(body) FROM body WHERE body.request = request.id), 0)`;

/**
 * Drops some requests after an id, the oldest first. A request that another process is about to take up is
 * locked by it, and is skipped.
 */
export async function dropRequests(
  session: Session,
  { states, before, after, bytes }: OldRequests,
): Promise<DroppedRequest[]> {
  const least = states === 'final' ? REQUEST.answered : REQUEST.admitted;
  const dropped = await session.rows<DroppedRequest>(
    `WITH old AS (
       SELECT id, batch, ${BYTES} AS bytes FROM request
       WHERE id > $1 AND at < $2 AND state >= $3 AND state <> ${REQUEST.planned}
         AND owner NOT IN ${ALIVE_OWNERS}
       ORDER BY id LIMIT ${DROPPED_PER_TRANSACTION} FOR UPDATE SKIP LOCKED
     ), counted AS (
       SELECT id, batch, bytes, sum(bytes) OVER (ORDER BY id) - bytes AS gone FROM old
     ), removed AS (
       DELETE FROM request USING counted WHERE request.id = counted.id AND gone < $4
       RETURNING request.id, counted.batch, counted.bytes::bigint
     ), answers AS (
       DELETE FROM answer USING removed WHERE answer.request = removed.id
     ), bodies AS (
       DELETE FROM body USING removed WHERE body.request = removed.id
     )
     SELECT id, batch, bytes FROM removed ORDER BY id`,
    [after, before, least, bytes],
  );
  return dropped;
}

/** How many bytes answers and bodies have together. */
export async function storedBytes(session: Session): Promise<number> {
  const [row] = await session.rows<{ bytes: number }>(
    `SELECT (coalesce((SELECT sum(octet_length(body) + octet_length(headers)) FROM answer), 0)
       + coalesce((SELECT sum(octet_length(body)) FROM body), 0))::bigint AS bytes`,
  );
  return row?.bytes ?? 0;
}
