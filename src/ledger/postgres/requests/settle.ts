import type { OwnerId, RequestId, Settlement } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { type Answered, firstOfEach, isAnswer } from '../../sql/settlements.ts';
import type { Session, Transaction } from '../connection/store.ts';
import { pieceAt, pieces } from './pieces.ts';

/** Tells which rows may have an outcome: SQL with the value as `$1`. */
export interface Allowed {
  readonly condition: string;
  readonly value: number;
}

/**
 * Writes the first outcome of each request, inside a transaction. A request that is not among the allowed
 * ones stays as it is: the first outcome wins. Returns the answers that were written.
 */
export async function settleAll(
  transaction: Transaction,
  settlements: readonly Settlement[],
  allowed: Allowed,
  owner: OwnerId,
  keepsBodies: boolean,
): Promise<Answered[]> {
  const first = firstOfEach(settlements);
  const answers = first.filter(isAnswer);
  const idsOf = (is: Settlement['is']) =>
    first.filter((settlement) => settlement.is === is).map(({ request }) => request);
  await retry(transaction, idsOf('retry'), allowed, owner);
  const released = await release(transaction, idsOf('release'), allowed);
  const written = await storeAnswers(transaction, answers, allowed, owner);
  await eraseBodies(transaction, keepsBodies ? released : [...released, ...written]);
  return answers.filter(({ request }) => written.has(request));
}

async function storeAnswers(
  { rows, now }: Transaction,
  answers: readonly Answered[],
  { condition, value }: Allowed,
  owner: OwnerId,
): Promise<Set<RequestId>> {
  if (answers.length === 0) return new Set();
  const { bytes, starts, lengths } = pieces(answers.map(({ answer }) => answer.body));
  const written = await rows<{ id: RequestId }>(
    `WITH given AS (
       SELECT * FROM unnest($4::bigint[], $5::int[], $6::text[], $7::int[], $8::int[])
         AS given (request, status, headers, start, length)
     ), settled AS (
       UPDATE request SET owner = $2, at = $3,
         state = CASE WHEN status BETWEEN 200 AND 299 THEN ${REQUEST.answered} ELSE ${REQUEST.failed} END
       FROM given WHERE request.id = given.request AND ${condition} RETURNING request.id
     ), stored AS (
       INSERT INTO answer (request, status, headers, body)
       SELECT id, status, headers, ${pieceAt('$9')}
       FROM settled JOIN given ON given.request = settled.id ORDER BY id
     )
     SELECT id FROM settled`,
    [
      value,
      owner,
      now,
      answers.map(({ request }) => request),
      answers.map(({ answer }) => answer.status),
      answers.map(({ answer }) => JSON.stringify(answer.headers)),
      starts,
      lengths,
      bytes,
    ],
  );
  return new Set(written.map(({ id }) => id));
}

async function retry(
  { run, now }: Transaction,
  requests: readonly RequestId[],
  { condition, value }: Allowed,
  owner: OwnerId,
): Promise<void> {
  if (requests.length === 0) return;
  await run(
    `UPDATE request SET state = ${REQUEST.admitted}, owner = $2, at = $3, attempt = attempt + 1,
       batch = NULL, seq = NULL
     WHERE id = ANY($4::bigint[]) AND ${condition}`,
    [value, owner, now, requests],
  );
}

async function release(
  session: Session,
  requests: readonly RequestId[],
  { condition, value }: Allowed,
): Promise<RequestId[]> {
  if (requests.length === 0) return [];
  const rows = await session.rows<{ id: RequestId }>(
    `DELETE FROM request WHERE id = ANY($2::bigint[]) AND ${condition} RETURNING id`,
    [value, requests],
  );
  return rows.map(({ id }) => id);
}

async function eraseBodies({ run }: Session, requests: readonly RequestId[]): Promise<void> {
  if (requests.length === 0) return;
  await run('DELETE FROM body WHERE request = ANY($1::bigint[])', [requests]);
}
