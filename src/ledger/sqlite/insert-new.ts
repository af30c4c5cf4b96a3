import { invariant } from '../../errors.ts';
import type { OwnerId, QueueId, RequestId } from '../ledger.ts';
import { REQUEST } from './codes.ts';
import type { Store } from './store.ts';

/** An ask whose occurrence is known. */
export interface Wanted {
  readonly fingerprint: Uint8Array;
  readonly queue: QueueId;
  readonly occurrence: number;
}

/**
 * Inserts those that nobody has asked for before, inside a transaction, and returns their ids, each at
 * the place of its ask. The places of others are left out: known ones, and what is asked for twice.
 */
export type InsertNew = (owner: OwnerId, wanted: readonly Wanted[]) => Map<number, RequestId>;

const FINGERPRINT_BYTES = 32;

/** Nearly every request is new, so all of a queue go in with few statements. */
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

  const knownAmong = (wanted: readonly Wanted[]): Set<number> => {
    const rows = findKnown.all(...packed(wanted)) as { place: number }[];
    return new Set(rows.map(({ place }) => place));
  };
  const insertAll = (owner: OwnerId, queue: QueueId, wanted: readonly Wanted[]): RequestId => {
    const values = packed(wanted);
    const done = insert.run(...values, queue, owner, store.now());
    invariant(Number(done.changes) === wanted.length, 'Not all new requests were inserted');
    // Nobody else writes meanwhile, so their ids are consecutive.
    const first = Number(done.lastInsertRowid) - wanted.length + 1;
    enter.run(...values, first);
    return first;
  };

  return (owner, wanted) => {
    const inserted = new Map<number, RequestId>();
    const known = knownAmong(wanted);
    for (const [queue, places] of placesByQueue(wanted, known)) {
      const all = places.length === wanted.length;
      const chosen = all ? wanted : places.map((place) => wanted[place] as Wanted);
      const first = insertAll(owner, queue, chosen);
      for (const [index, place] of places.entries()) inserted.set(place, first + index);
    }
    return inserted;
  };
}

function packed(wanted: readonly Wanted[]): [Uint8Array, string] {
  const fingerprints = Buffer.allocUnsafe(wanted.length * FINGERPRINT_BYTES);
  wanted.forEach((one, index) => {
    fingerprints.set(one.fingerprint, index * FINGERPRINT_BYTES);
  });
  return [fingerprints, JSON.stringify(wanted.map(({ occurrence }) => occurrence))];
}

/** Of what is asked for twice only the first one is new. */
function placesByQueue(wanted: readonly Wanted[], known: Set<number>): Map<QueueId, number[]> {
  const seen = new Set<string>();
  const places = new Map<QueueId, number[]>();
  wanted.forEach(({ fingerprint, occurrence, queue }, place) => {
    if (known.has(place)) return;
    const before = seen.size;
    const { buffer, byteOffset, byteLength } = fingerprint;
    const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
    if (seen.add(text + occurrence).size === before) return;
    const others = places.get(queue);
    if (others) others.push(place);
    else places.set(queue, [place]);
  });
  return places;
}
