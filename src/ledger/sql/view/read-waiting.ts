import type { QueuePlace } from '../../ledger.ts';
import type { WaitingQueue, WaitingRequests } from '../../view.ts';
import { REQUEST } from '../codes.ts';
import type { SqlReader } from './sql-view.ts';

interface Group {
  readonly queue: number;
  readonly owner: number;
  count: number;
  sent: number;
  since: number;
}

interface GroupRow extends Group {
  readonly state: number;
  readonly first: number;
}

/** A million of them is more than this many milliseconds can count. */
const patience = 100;

/**
 * An index holds what waits, so that one statement finds it among any number of other requests, wherever they are. More than
 * `waitingAtOnce` are counted in slices, from the newest on.
 */
export async function readWaiting(reader: SqlReader): Promise<WaitingRequests> {
  const { inNoBatch, waitingAtOnce } = reader;
  const sql = `
    SELECT queue, owner, state, count(*) AS count, count(seq) AS sent, min(at) AS since, min(id) AS first
    FROM (
      SELECT id, queue, owner, state, seq, at FROM request WHERE ${inNoBatch} AND id < ?
      ORDER BY id DESC LIMIT ${waitingAtOnce}
    ) AS newest GROUP BY queue, owner, state`;
  const groups = new Map<string, Group>();
  const startedAt = performance.now();
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await reader.rows<GroupRow>(sql, [before]);
    for (const row of rows) if (row.state === REQUEST.admitted) add(groups, row);
    const looked = rows.reduce((sum, { count }) => sum + count, 0);
    const isMore = looked === waitingAtOnce;
    if (!isMore || performance.now() - startedAt > patience) {
      return { queues: await named(reader, [...groups.values()]), isMore };
    }
    before = Math.min(...rows.map(({ first }) => first));
  }
}

function add(groups: Map<string, Group>, row: Group): void {
  const name = `${row.queue} ${row.owner}`;
  const group = groups.get(name);
  if (group === undefined) {
    groups.set(name, { ...row });
    return;
  }
  group.count += row.count;
  group.sent += row.sent;
  group.since = Math.min(group.since, row.since);
}

async function named(reader: SqlReader, groups: readonly Group[]): Promise<WaitingQueue[]> {
  if (groups.length === 0) return [];
  const owners = await reader.livingOwners([...new Set(groups.map(({ owner }) => owner))]);
  const ids = [...new Set(groups.map(({ queue }) => queue))];
  const queues = await reader.rows<{ id: number } & QueuePlace>(
    `SELECT id, provider, endpoint, model, base FROM queue WHERE id IN (${ids.join()})`,
  );
  return groups.flatMap(({ queue, owner: id, count, sent, since }) => {
    const found = queues.find((one) => one.id === queue);
    if (found === undefined) return [];
    const { id: _, ...place } = found;
    const owner = owners.get(id);
    return { ...place, count, sent, since, ...(owner && { owner }) };
  });
}
