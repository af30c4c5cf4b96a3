import type { Ledger, RequestId } from '../../ledger.ts';
import { inSlices } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { fromStored, toStored } from '../connection/stored-text.ts';
import { REQUEST } from '../schema/codes.ts';

export function prepareSpool(store: Store): Ledger['spool'] {
  const put = store.prepare(
    `INSERT OR REPLACE INTO body (request, body)
     SELECT id, ? FROM request WHERE id = ? AND state <= ${REQUEST.planned}`,
  );
  return (bodies) =>
    inSlices(
      bodies,
      (slice) =>
        store.write(() => {
          for (const { request, body } of slice) put.run(toStored(body), request);
        }),
      { sizeOf: ({ body }) => body.length },
    );
}

export function prepareBodies(store: Store): Ledger['bodies'] {
  const find = store.prepare('SELECT body FROM body WHERE request = ?');
  return async (requests) => {
    const bodies = new Map<RequestId, string>();
    await inSlices(requests, (slice) =>
      store.read(() => {
        for (const request of slice) {
          const row = find.get(request) as { body: string | Uint8Array } | undefined;
          if (row) bodies.set(request, fromStored(row.body));
        }
      }),
    );
    return bodies;
  };
}
