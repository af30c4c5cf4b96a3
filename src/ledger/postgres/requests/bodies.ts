import type { Ledger, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import { AT_ONCE, type Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { pieceAt, pieces } from './pieces.ts';

/** Durable: the bodies are kept nowhere else. */
export function prepareSpool(store: Store, owners: Owners): Ledger['spool'] {
  const sql = `
    INSERT INTO body (request, body)
    SELECT request.id, ${pieceAt('$1')}
    FROM unnest($2::bigint[], $3::int[], $4::int[]) AS given (request, start, length)
      JOIN request ON request.id = given.request
    WHERE state <= ${REQUEST.planned} AND owner = ANY($5::bigint[]) ORDER BY request.id
    ON CONFLICT (request) DO UPDATE SET body = excluded.body`;
  return (bodies) =>
    inSlices(
      bodies,
      async (slice) => {
        const { bytes, starts, lengths } = pieces(slice.map(({ body }) => body));
        const requests = slice.map(({ request }) => request);
        const values = [bytes, requests, starts, lengths, owners.joined()];
        await store.write(({ run }) => run(sql, values), { durable: true });
      },
      { ...AT_ONCE, sizeOf: ({ body }) => body.length },
    );
}

export function prepareBodies(store: Store): Ledger['bodies'] {
  return async (requests) => {
    const bodies = new Map<RequestId, string>();
    await inSlices(requests, async (slice) => {
      const rows = await store.rows<{ request: RequestId; body: Uint8Array }>(
        'SELECT request, body FROM body WHERE request = ANY($1::bigint[]) ORDER BY request',
        [slice],
      );
      for (const { request, body } of rows) bodies.set(request, Buffer.from(body).toString());
    });
    return bodies;
  };
}
