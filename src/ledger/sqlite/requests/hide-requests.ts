import type { RequestId } from '../../ledger.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { isOld, type OldRequests, type OldRow, valuesOf } from './old-requests.ts';

/** Fewer are dropped with their identities. */
const WORTH_HIDING = 1_000;

/**
 * Takes thousands of requests out of the identities, those first that lie together there. Fingerprints
 * are random, so dropping requests in the order of their ids would write a page for each of them.
 *
 * Nobody finds them any more, so nobody takes one up before it is dropped. After a crash in between the
 * rows are still there, and the next prune drops them.
 */
export function prepareHideRequests(
  store: Store,
): (query: OldRequests, rows: readonly OldRow[]) => Promise<void> {
  // Asked again under the lock: another process may have taken one up since.
  const removals = ['identity', 'identity_new'].map((table) =>
    store.prepare(
      `DELETE FROM ${table} WHERE (prefix, occ, request) IN (
         SELECT substr(fp, 1, 6), occ, id FROM request
         WHERE id IN (SELECT value FROM json_each(?)) AND ${isOld}
       )`,
    ),
  );
  return async (query, rows) => {
    if (rows.length < WORTH_HIDING) return;
    const ids = byPlace(rows);
    const pace = new Pace({ least: 50, most: 2_000 });
    for (let at = 0; at < ids.length; await nextTurn()) {
      const slice = ids.slice(at, at + pace.rows);
      at += slice.length;
      const remove = () => {
        for (const removal of removals) removal.run(JSON.stringify(slice), ...valuesOf(query));
      };
      await store.write(remove, { pace });
    }
  };
}

function byPlace(rows: readonly OldRow[]): RequestId[] {
  const places = new Map<string, RequestId[]>();
  for (const { place, id } of rows) {
    const others = places.get(place);
    if (others) others.push(id);
    else places.set(place, [id]);
  }
  return [...places.keys()].sort().flatMap((place) => places.get(place) as RequestId[]);
}
