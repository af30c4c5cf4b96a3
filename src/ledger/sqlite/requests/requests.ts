import type { OwnerId, QueueId, RequestId } from '../../ledger.ts';
import type { BlockId } from '../answers/answers.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';
import { candidates } from '../schema/identities.ts';

export interface RequestRow {
  readonly id: RequestId;
  readonly generation: number;
  readonly state: number;
  readonly attempt: number;
  readonly owner: OwnerId;
  readonly batch: number | null;
  readonly answer: BlockId | null;
}

/** The rows of `request` as an admission reads and writes them, inside a transaction. */
export interface Requests {
  /** The newest generation. */
  find(fingerprint: Uint8Array, occurrence: number): RequestRow | undefined;
  /** The newest generation that can serve later runs. */
  findAnswered(fingerprint: Uint8Array, occurrence: number): RequestRow | undefined;
  insert(
    fingerprint: Uint8Array,
    occurrence: number,
    generation: number,
    owner: OwnerId,
    queue: QueueId,
  ): RequestId;
  /** Back to admitted and ours, without an answer, as one that was tried so often. */
  reset(request: RequestId, owner: OwnerId, queue: QueueId, attempt: number): void;
  own(request: RequestId, owner: OwnerId): void;
}

export function prepareRequests(store: Store): Requests {
  const columns = 'id, generation, state, attempt, owner, batch, answer';
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
  return {
    find: (fingerprint, occurrence) => find.get(fingerprint, occurrence) as RequestRow | undefined,
    findAnswered: (fingerprint, occurrence) =>
      findAnswered.get(fingerprint, occurrence) as RequestRow | undefined,
    insert(fingerprint, occurrence, generation, owner, queue) {
      const row = insert.run(fingerprint, occurrence, generation, queue, owner, store.now());
      const id = Number(row.lastInsertRowid);
      enter.run(fingerprint, occurrence, id);
      return id;
    },
    reset(request, owner, queue, attempt) {
      reset.run(attempt, owner, queue, store.now(), request);
    },
    own(request, owner) {
      own.run(owner, request);
    },
  };
}
