import type { Ledger } from '../../ledger.ts';
import { inSlices } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';

export function prepareWithdraw(store: Store): Ledger['withdraw'] {
  const remove = store.prepare(
    `DELETE FROM request
     WHERE id = ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`,
  );
  const eraseBody = store.prepare('DELETE FROM body WHERE request = ?');
  return async (owner, requests) => {
    await inSlices(requests, (slice) =>
      store.write(() => {
        for (const request of slice) {
          if (remove.run(request, owner).changes) eraseBody.run(request);
        }
      }),
    );
    store.touch();
  };
}
