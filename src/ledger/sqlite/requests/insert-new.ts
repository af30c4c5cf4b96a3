import { FINGERPRINT_BYTES, fingerprintKey, packedFingerprints } from '../../fingerprints.ts';
import type { OwnerId, QueueId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';

/** An ask whose occurrence is known. */
export interface Wanted {
  readonly fingerprint: Uint8Array;
  readonly queue: QueueId;
  readonly occurrence: number;
}

/**
 * Inserts the requests that are new to the ledger, inside a transaction, and returns their ids, each at
 * the place of its ask. The place is empty for a known request, and for the second of two equal asks.
 */
export type InsertNew = (
  owner: OwnerId,
  wanted: readonly Wanted[],
) => readonly (RequestId | undefined)[];

/** All requests of a queue are inserted with two statements. */
export function prepareInsertNew(store: Store): InsertNew {
  // All fingerprints come as one value, all occurrences as a JSON list in the same order.
  const fingerprint = `substr(?1, key * ${FINGERPRINT_BYTES} + 1, ${FINGERPRINT_BYTES})`;
  const prefix = `substr(?1, key * ${FINGERPRINT_BYTES} + 1, 6)`;
  const isIn = (table: string) =>
    `EXISTS (
       SELECT 1 FROM ${table} JOIN request ON request.id = ${table}.request
       WHERE prefix = ${prefix} AND ${table}.occ = value AND fp = ${fingerprint}
     )`;
  const findKnown = store.prepare(
    `SELECT key AS place FROM json_each(?2) WHERE ${isIn('identity_new')} OR ${isIn('identity')}`,
  );
  const insert = store.prepare(
    `INSERT INTO request (fp, occ, generation, queue, owner, state, attempt, at)
     SELECT ${fingerprint}, value, 0, ?3, ?4, ${REQUEST.admitted}, 0, ?5 FROM json_each(?2)`,
  );
  const enter = store.prepare(
    `INSERT INTO identity_new (prefix, occ, request) SELECT ${prefix}, value, ?3 + key FROM json_each(?2)`,
  );

  const insertAll = (owner: OwnerId, queue: QueueId, values: Packed): RequestId => {
    const done = insert.run(...values, queue, owner, store.now());
    const count = Number(done.changes);
    // No other connection writes during a transaction, so the ids are consecutive.
    const first = Number(done.lastInsertRowid) - count + 1;
    enter.run(...values, first);
    return first;
  };

  return (owner, wanted) => {
    const inserted: (RequestId | undefined)[] = wanted.map(() => undefined);
    const values = packed(wanted);
    const known = findKnown.all(...values) as { place: number }[];
    for (const [queue, places] of placesByQueue(wanted, known)) {
      const all = places.length === wanted.length;
      const chosen = all ? values : packed(places.map((place) => wanted[place] as Wanted));
      const first = insertAll(owner, queue, chosen);
      places.forEach((place, index) => {
        inserted[place] = first + index;
      });
    }
    return inserted;
  };
}

type Packed = [fingerprints: Uint8Array, occurrences: string];

function packed(wanted: readonly Wanted[]): Packed {
  return [packedFingerprints(wanted), JSON.stringify(wanted.map(({ occurrence }) => occurrence))];
}

/** Only the first one of two equal asks is new. */
function placesByQueue(
  wanted: readonly Wanted[],
  known: readonly { place: number }[],
): Map<QueueId, number[]> {
  const skipped = new Set(known.map(({ place }) => place));
  const seen = new Set<string>();
  const places = new Map<QueueId, number[]>();
  wanted.forEach(({ fingerprint, occurrence, queue }, place) => {
    if (skipped.has(place)) return;
    const key = `${fingerprintKey(fingerprint)}${occurrence}`;
    if (seen.has(key)) return;
    seen.add(key);
    const others = places.get(queue);
    if (others) others.push(place);
    else places.set(queue, [place]);
  });
  return places;
}
