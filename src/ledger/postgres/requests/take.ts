import type { OwnerId, QueueId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Session, Transaction } from '../connection/store.ts';

interface Taken {
  readonly request: RequestId;
  readonly queue: QueueId;
  readonly attempt: number;
}

/** The requests, which are locked, are admitted again by this owner, without an answer. */
export async function takeRequests(
  { run, now }: Transaction,
  owner: OwnerId,
  taken: readonly Taken[],
): Promise<void> {
  if (taken.length === 0) return;
  const ids = taken.map(({ request }) => request);
  await run(
    `UPDATE request SET state = ${REQUEST.admitted}, owner = $4, at = $5, queue = given.queue,
       attempt = given.attempt, batch = NULL, seq = NULL
     FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS given (id, queue, attempt)
     WHERE request.id = given.id`,
    [ids, taken.map(({ queue }) => queue), taken.map(({ attempt }) => attempt), owner, now],
  );
  await run('DELETE FROM answer WHERE request = ANY($1::bigint[])', [ids]);
}

/** The requests, which are locked, belong to this owner from now on. */
export async function adoptRequests(
  { run }: Session,
  owner: OwnerId,
  requests: readonly RequestId[],
): Promise<void> {
  if (requests.length === 0) return;
  await run('UPDATE request SET owner = $2 WHERE id = ANY($1::bigint[])', [requests, owner]);
}
