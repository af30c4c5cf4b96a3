import type { BatchId, OwnerId, RequestId } from '../../ledger.ts';
import type { BlockId } from '../answers/answers.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';

/** Which requests to drop. */
export interface OldRequests {
  readonly alive: readonly OwnerId[];
  readonly states: 'final' | 'all-but-planned';
  readonly before: number;
}

export interface OldRow {
  readonly id: RequestId;
  readonly batch: BatchId | null;
  readonly answer: BlockId | null;
  readonly bytes: number;
  /** The first byte of its fingerprint: those with the same one lie together among the identities. */
  readonly place: string;
}

/** SQL: whether a row of `request` is to be dropped, by the three `valuesOf` a query. */
export const isOld = `at < ? AND state >= ? AND state <> ${REQUEST.planned}
  AND owner NOT IN (SELECT value FROM json_each(?))`;

export function valuesOf({ alive, states, before }: OldRequests): [number, number, string] {
  const least = states === 'final' ? REQUEST.answered : REQUEST.admitted;
  return [before, least, JSON.stringify(alive)];
}

/** Reads those with ids in a range, the first ones. */
export type ReadOld = (query: OldRequests, from: number, to: number, most: number) => OldRow[];

export function prepareReadOld(store: Store): ReadOld {
  const select = store.prepare(
    `SELECT request.id, batch, request.answer, hex(substr(fp, 1, 1)) AS place,
       coalesce(octet_length(answer.body) / json_array_length(answer.request), 0)
         + coalesce(octet_length(body.body), 0) AS bytes
     FROM request
       LEFT JOIN answer ON answer.id = request.answer
       LEFT JOIN body ON body.request = request.id
     WHERE request.id BETWEEN ? AND ? AND ${isOld}
     ORDER BY request.id LIMIT ?`,
  );
  return (query, from, to, most) =>
    select.all(from, to, ...valuesOf(query), most) as unknown as OldRow[];
}
