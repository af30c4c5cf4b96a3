import type { Ledger, PruneQuery, PruneReport } from '../../ledger.ts';
import { countDropped, type Dropped } from '../../sql/dropped.ts';
import { NOW, type Session, type Store } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';
import { countBatches, dropBatches } from './prune-batches.ts';
import {
  DROPPED_PER_TRANSACTION,
  dropRequests,
  findRequests,
  type OldRequests,
  storedBytes,
} from './prune-requests.ts';
import { dropUnused } from './prune-unused.ts';

/** How old rows are gone through: dropped, in many short transactions, or only counted. */
interface Way {
  in<T>(work: (session: Session) => Promise<T>): Promise<T>;
  readonly requests: typeof dropRequests;
  readonly batches: typeof dropBatches;
}

const EVERYTHING = Number.MAX_SAFE_INTEGER;

export function preparePrune(store: Store): Ledger['prune'] {
  const dropping: Way = {
    in: (work) => store.write(work, { notify: true }),
    requests: dropRequests,
    batches: dropBatches,
  };
  const counting: Way = {
    in: (work) => store.read(work),
    requests: findRequests,
    batches: countBatches,
  };
  return async (query) => {
    const [row] = await store.rows<{ now: number }>(`SELECT ${NOW} AS now`);
    const now = store.moment((row as { now: number }).now);
    return prune(query, now, query.dryRun ? counting : dropping);
  };
}

async function prune(
  { olderThan, maxBytes, dryRun }: PruneQuery,
  now: number,
  way: Way,
): Promise<PruneReport> {
  const dropped: Dropped = { requests: 0, bytes: 0, batches: new Map() };
  const before = olderThan === undefined ? 0 : now - olderThan;
  const stored = maxBytes === undefined ? 0 : await way.in(storedBytes);
  if (olderThan !== undefined) {
    const old = { states: 'all-but-planned', since: 0, before, bytes: EVERYTHING } as const;
    await dropAll(way, old, dropped);
    if (!dryRun) await way.in((session) => dropRuns(session, before));
  }
  if (maxBytes !== undefined) {
    const excess = stored - dropped.bytes - maxBytes;
    const final = { states: 'final', since: before, before: EVERYTHING } as const;
    if (excess > 0) await dropAll(way, { ...final, bytes: excess }, dropped);
  }
  const batches = await way.in((session) => way.batches(session, before, dropped.batches));
  if (olderThan !== undefined && !dryRun) {
    await way.in((session) => dropUnused(session, Math.min(before, now)));
  }
  return { requests: dropped.requests, batches, bytes: dropped.bytes };
}

async function dropAll(
  way: Way,
  query: Omit<OldRequests, 'after'>,
  dropped: Dropped,
): Promise<void> {
  let after = 0;
  let bytes = query.bytes;
  while (bytes > 0) {
    const found = await way.in((session) => way.requests(session, { ...query, after, bytes }));
    countDropped(found, dropped);
    if (found.length < DROPPED_PER_TRANSACTION) return;
    bytes -= found.reduce((sum, row) => sum + row.bytes, 0);
    after = found.at(-1)?.id ?? after;
  }
}

/** Drops the counts and costs of runs that no owner can go on with. The costs of days stay. */
async function dropRuns(session: Session, before: number): Promise<void> {
  for (const table of ['run_count', 'run_cost']) {
    await session.run(
      `DELETE FROM ${table} WHERE run NOT LIKE 'day %' AND run NOT IN (
         SELECT run FROM owner WHERE joined_at >= $1 OR id IN ${ALIVE_OWNERS}
       )`,
      [before],
    );
  }
}
