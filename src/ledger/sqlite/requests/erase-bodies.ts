import type { BatchId, RequestId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';

/** For use inside a transaction. */
export interface EraseBodies {
  of(requests: readonly RequestId[]): void;
  /** Of those only that are members of this batch and have no outcome in their rows. */
  ofMembers(requests: readonly RequestId[], batch: BatchId): void;
}

export function prepareEraseBodies(store: Store): EraseBodies {
  // Bodies are only here if they did not fit into memory.
  const any = store.prepare('SELECT 1 FROM body LIMIT 1');
  const listed = 'SELECT value FROM json_each(?)';
  const erase = store.prepare(`DELETE FROM body WHERE request IN (${listed})`);
  const eraseOfMembers = store.prepare(
    `DELETE FROM body WHERE request IN (
       SELECT id FROM request WHERE id IN (${listed}) AND +batch = ? AND state = ${REQUEST.planned}
     )`,
  );
  return {
    of(requests) {
      if (requests.length > 0 && any.get()) erase.run(JSON.stringify(requests));
    },
    ofMembers(requests, batch) {
      if (requests.length > 0 && any.get()) eraseOfMembers.run(JSON.stringify(requests), batch);
    },
  };
}
