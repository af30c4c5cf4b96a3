import type { BatchId, Ledger, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Store } from '../connection/store.ts';

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

/** Erases bodies, inside a transaction. */
export function prepareEraseBodies(store: Store) {
  // The table is empty unless bodies did not fit into memory.
  const any = store.prepare('SELECT 1 FROM body LIMIT 1');
  const listed = 'SELECT value FROM json_each(?)';
  const erase = store.prepare(`DELETE FROM body WHERE request IN (${listed})`);
  const eraseOfMembers = store.prepare(
    `DELETE FROM body WHERE request IN (
       SELECT id FROM request WHERE id IN (${listed}) AND +batch = ? AND state = ${REQUEST.planned}
     )`,
  );
  return {
    of(requests: readonly RequestId[]): void {
      if (requests.length > 0 && any.get()) erase.run(JSON.stringify(requests));
    },
    /** Erases only bodies of members of this batch whose rows have no outcome. */
    ofMembers(requests: readonly RequestId[], batch: BatchId): void {
      if (requests.length > 0 && any.get()) eraseOfMembers.run(JSON.stringify(requests), batch);
    },
  };
}

/** SQLite drivers cut text at a zero character; such text, which is rare, is stored as bytes. */
export function toStored(text: string): string | Uint8Array {
  return text.includes('\0') ? Buffer.from(text) : text;
}

export function fromStored(stored: string | Uint8Array): string {
  return typeof stored === 'string' ? stored : Buffer.from(stored).toString();
}
