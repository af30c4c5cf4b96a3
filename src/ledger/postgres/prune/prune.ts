import type { BatchId, Ledger, PruneQuery, PruneReport } from '../../ledger.ts';
import type { Session, Store, Transaction } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';
import { BATCH } from '../schema/codes.ts';
import {
  DROPPED_PER_TRANSACTION,
  dropRequests,
  type OldRequests,
  storedBytes,
} from './prune-requests.ts';

/** Runs statements, each time in a transaction: many short ones, or for a dry run the same one. */
type InTransaction = <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>;

interface Dropped {
  requests: number;
  bytes: number;
  readonly batches: Set<BatchId>;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** A dry run drops everything in one transaction, which is then undone. */
export function preparePrune(store: Store): Ledger['prune'] {
  return (query) => {
    if (!query.dryRun) return prune(query, (work) => store.write(work, { notify: true }));
    return store.write((transaction) => prune(query, (work) => work(transaction)), {
      rollback: true,
    });
  };
}

async function prune(query: PruneQuery, inTransaction: InTransaction): Promise<PruneReport> {
  const { olderThan, maxBytes } = query;
  const dropped: Dropped = { requests: 0, bytes: 0, batches: new Set() };
  let before = 0;
  if (olderThan !== undefined) {
    before = await inTransaction(async ({ now }) => now - olderThan);
    const old = { states: 'all-but-planned', before, bytes: EVERYTHING } as const;
    await dropAll(inTransaction, old, dropped);
    await inTransaction((transaction) => dropRuns(transaction, before));
  }
  if (maxBytes !== undefined) {
    const excess = (await inTransaction(storedBytes)) - maxBytes;
    const final = { states: 'final', before: EVERYTHING } as const;
    if (excess > 0) await dropAll(inTransaction, { ...final, bytes: excess }, dropped);
  }
  const batches = await inTransaction((session) => dropBatches(session, before, dropped.batches));
  return { requests: dropped.requests, batches, bytes: dropped.bytes };
}

async function dropAll(
  inTransaction: InTransaction,
  query: Omit<OldRequests, 'after'>,
  dropped: Dropped,
): Promise<void> {
  let after = 0;
  let bytes = query.bytes;
  while (bytes > 0) {
    const found = await inTransaction((session) =>
      dropRequests(session, { ...query, after, bytes }),
    );
    for (const row of found) {
      dropped.requests += 1;
      dropped.bytes += row.bytes;
      bytes -= row.bytes;
      if (row.batch !== null) dropped.batches.add(row.batch);
      after = row.id;
    }
    if (found.length < DROPPED_PER_TRANSACTION) return;
  }
}

/** Drops finished batches without members: old ones, and those that just lost their last member. */
function dropBatches(session: Session, before: number, emptied: ReadonlySet<BatchId>) {
  return session.run(
    `DELETE FROM batch
     WHERE state >= ${BATCH.ended} AND (ended_at < $1 OR id = ANY($2::bigint[]))
       AND owner NOT IN ${ALIVE_OWNERS}
       AND NOT EXISTS (SELECT 1 FROM request WHERE request.batch = batch.id)`,
    [before, [...emptied]],
  );
}

/** Drops the counts and costs of runs that no owner can go on with. */
async function dropRuns(session: Session, before: number): Promise<void> {
  for (const table of ['run_count', 'run_cost']) {
    await session.run(
      `DELETE FROM ${table} WHERE run NOT IN (
         SELECT run FROM owner WHERE joined_at >= $1 OR id IN ${ALIVE_OWNERS}
       )`,
      [before],
    );
  }
}
