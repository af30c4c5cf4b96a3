import type { Ask, BatchId, OwnerId, QueueId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { BlockId } from '../answers/answers.ts';
import { remembered } from '../connection/remembered.ts';
import type { Store } from '../connection/store.ts';
import { candidates } from './identities.ts';

export interface RequestRow {
  readonly id: RequestId;
  readonly generation: number;
  readonly state: number;
  readonly attempt: number;
  readonly owner: OwnerId;
  readonly batch: BatchId | null;
  readonly seq: number | null;
  readonly answer: BlockId | null;
}

interface FoundBatch {
  readonly token: string;
  readonly state: number;
  readonly owner: OwnerId;
}

export type Requests = ReturnType<typeof prepareRequests>;

/** The rows that an admission reads and writes, inside a transaction. */
export function prepareRequests(store: Store) {
  const columns = 'id, generation, state, attempt, owner, batch, seq, answer';
  const identity = `id IN (${candidates('substr(?1, 1, 6)', '?2')}) AND fp = ?1`;
  const find = store.prepare(
    `SELECT ${columns} FROM request WHERE ${identity} ORDER BY generation DESC LIMIT 1`,
  );
  const findAnswered = store.prepare(
    `SELECT ${columns} FROM request
     WHERE ${identity} AND state = ${REQUEST.answered} AND answer IS NOT NULL
     ORDER BY generation DESC LIMIT 1`,
  );
  const insert = store.prepare(
    `INSERT INTO request (fp, occ, generation, queue, owner, state, attempt, at)
     VALUES (?, ?, ?, ?, ?, ${REQUEST.admitted}, 0, ?)`,
  );
  const enter = store.prepare(
    'INSERT INTO identity_new (prefix, occ, request) VALUES (substr(?, 1, 6), ?, ?)',
  );
  const reset = store.prepare(
    `UPDATE request
     SET state = ${REQUEST.admitted}, attempt = ?, owner = ?, queue = ?, batch = NULL, seq = NULL, at = ?,
       answer = NULL
     WHERE id = ?`,
  );
  const own = store.prepare('UPDATE request SET owner = ? WHERE id = ?');
  const count = store.prepare(
    `INSERT INTO run_count (run, fp, n) VALUES (?, ?, 1)
     ON CONFLICT (run, fp) DO UPDATE SET n = n + 1
     RETURNING n - 1 AS occurrence`,
  );
  const findBatch = store.prepare('SELECT token, state, owner FROM batch WHERE id = ?');
  return {
    /** The newest generation. */
    find: (fingerprint: Uint8Array, occurrence: number) =>
      find.get(fingerprint, occurrence) as RequestRow | undefined,
    /** The newest generation that can serve later runs. */
    findAnswered: (fingerprint: Uint8Array, occurrence: number) =>
      findAnswered.get(fingerprint, occurrence) as RequestRow | undefined,
    insert(
      { fingerprint, queue }: Pick<Ask, 'fingerprint' | 'queue'>,
      occurrence: number,
      generation: number,
      owner: OwnerId,
    ): RequestId {
      const row = insert.run(fingerprint, occurrence, generation, queue, owner, store.now());
      const id = Number(row.lastInsertRowid);
      enter.run(fingerprint, occurrence, id);
      return id;
    },
    /** The request is admitted again by this owner, without an answer, after so many attempts. */
    reset(request: RequestId, owner: OwnerId, queue: QueueId, attempt: number): void {
      reset.run(attempt, owner, queue, store.now(), request);
    },
    own(request: RequestId, owner: OwnerId): void {
      own.run(owner, request);
    },
    /** Counts for all processes of a run; the first occurrence is 0. */
    nextOccurrence: (run: string, fingerprint: Uint8Array): number =>
      (count.get(run, fingerprint) as { occurrence: number }).occurrence,
    /** Reads each batch once; valid within one transaction. */
    batchFinder: () => remembered((batch) => findBatch.get(batch) as FoundBatch | undefined),
  };
}
