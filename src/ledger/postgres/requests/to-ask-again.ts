import type { Ledger, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';

const WAITS_AT_ONCE = 10_000;

/**
 * One statement for thousands of waiters that have nothing new to hear, which are nearly all of them nearly
 * always: asking for each would take its locks and its transactions.
 */
export function prepareToAskAgain(store: Store): Ledger['toAskAgain'] {
  return async (waits) => {
    const found: RequestId[] = [];
    for (let from = 0; from < waits.length; from += WAITS_AT_ONCE) {
      const some = waits.slice(from, from + WAITS_AT_ONCE);
      const rows = await store.rows<{ id: RequestId }>(
        `SELECT given.id FROM unnest($1::bigint[], $2::bigint[]) AS given (id, batch)
           LEFT JOIN request ON request.id = given.id
           LEFT JOIN batch ON batch.id = request.batch
         WHERE request.id IS NULL OR request.state NOT IN (${REQUEST.admitted}, ${REQUEST.planned})
           OR request.batch IS DISTINCT FROM given.batch
           OR coalesce(batch.owner, request.owner) NOT IN ${ALIVE_OWNERS}`,
        [some.map(({ request }) => request), some.map(({ batch }) => batch ?? null)],
      );
      for (const { id } of rows) found.push(id);
    }
    return found;
  };
}
