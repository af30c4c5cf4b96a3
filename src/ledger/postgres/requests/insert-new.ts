import { packedFingerprints } from '../../fingerprints.ts';
import type { OwnerId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Transaction } from '../connection/store.ts';
import type { PlacedAsk } from './occurrences.ts';
import { fingerprintAt, identityKey } from './packed.ts';

/** An ask and the generation of its request that is to be inserted. */
export type NewRequest = PlacedAsk & { readonly generation: number };

/**
 * Inserts requests and returns their ids by the keys of their asks. One that another process has inserted
 * meanwhile is left out. Rows are inserted in the order of their fingerprints, so that two processes with
 * the same requests do not deadlock; ids are in the order of the asks.
 */
export async function insertRequests(
  { rows, now }: Transaction,
  owner: OwnerId,
  requests: readonly NewRequest[],
): Promise<Map<string, RequestId>> {
  if (requests.length === 0) return new Map();
  const inserted = await rows<{ id: RequestId; fp: Uint8Array; occ: number }>(
    `INSERT INTO request (id, fp, occ, generation, queue, owner, state, attempt, at)
     SELECT id, fp, occ, generation, queue, $5, ${REQUEST.admitted}, 0, $6
     FROM (
       SELECT nextval('request_id') AS id, unknown.* FROM (
         SELECT asked.* FROM (
           SELECT ${fingerprintAt('$1', 'place')} AS fp, occ, generation, queue, place
           FROM unnest($2::int[], $3::int[], $4::bigint[]) WITH ORDINALITY
             AS given (occ, generation, queue, place)
         ) AS asked
         WHERE generation > 0 OR NOT EXISTS (
           SELECT 1 FROM request WHERE request.fp = asked.fp AND request.occ = asked.occ
         )
         ORDER BY place
       ) AS unknown
     ) AS numbered
     ORDER BY fp, occ
     ON CONFLICT (fp, occ, generation) DO NOTHING
     RETURNING id, fp, occ`,
    [
      packedFingerprints(requests),
      requests.map(({ occurrence }) => occurrence),
      requests.map(({ generation }) => generation),
      requests.map(({ queue }) => queue),
      owner,
      now,
    ],
  );
  return new Map(inserted.map(({ id, fp, occ }) => [identityKey(fp, occ), id]));
}
