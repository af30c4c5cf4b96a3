import { checkPlanned } from '../../batch-moves.ts';
import type { BatchId, Ledger, NewBatch, OwnerId, RequestId } from '../../ledger.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import type { Store, Transaction } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { requireRoom } from './costs.ts';

export function preparePlan(store: Store, owners: Owners): Ledger['plan'] {
  return (owner, batch, requests) =>
    store.write(
      async (transaction) => {
        const ownRun = await owners.require(transaction, owner);
        const { estimate = 0, budget, purse: run = ownRun } = batch;
        if (budget !== undefined) await requireRoom(transaction, run, estimate, budget);
        const id = await insertBatch(transaction, owner, run, batch, requests.length);
        const assigned = await assign(transaction, owner, id, requests);
        checkPlanned(assigned === requests.length, batch.token, owner);
        return { batch: id, owner, epoch: 1 };
      },
      { durable: true, notify: true },
    );
}

async function insertBatch(
  { rows, now }: Transaction,
  owner: OwnerId,
  run: string,
  { token, queue, name, tags, traces, estimate }: NewBatch,
  count: number,
): Promise<BatchId> {
  const [row] = await rows<{ id: BatchId }>(
    `INSERT INTO batch (token, queue, run, owner, epoch, state, count, name, tags, estimate, traces, created_at)
     VALUES ($1, $2, $3, $4, 1, ${BATCH.planned}, $5, $6, $7, $8, $9, $10) RETURNING id`,
    [
      ...[token, queue, run, owner, count, name ?? null, JSON.stringify(tags), estimate ?? null],
      ...[traces ? JSON.stringify(traces) : null, now],
    ],
  );
  return (row as { id: BatchId }).id;
}

/** How many requests have become members. A request that is named twice counts once. */
function assign(
  { run }: Transaction,
  owner: OwnerId,
  batch: BatchId,
  requests: readonly RequestId[],
): Promise<number> {
  return run(
    `UPDATE request SET state = ${REQUEST.planned}, batch = $1, seq = given.place - 1
     FROM unnest($2::bigint[]) WITH ORDINALITY AS given (id, place)
     WHERE request.id = given.id AND owner = $3 AND state = ${REQUEST.admitted}`,
    [batch, requests, owner],
  );
}
