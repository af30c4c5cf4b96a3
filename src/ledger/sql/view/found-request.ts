import type { QueuePlace, RequestId } from '../../ledger.ts';
import type { FoundRequest } from '../../view.ts';
import { requestState } from '../codes.ts';
import type { FoundAnswer } from './sql-view.ts';

/** A request with its queue and its batch, as `selectFound` selects it. */
export interface FoundRow extends QueuePlace {
  readonly id: RequestId;
  readonly fp: Uint8Array;
  readonly occ: number;
  readonly generation: number;
  readonly state: number;
  readonly attempt: number;
  readonly at: number;
  readonly batch: number | null;
  readonly token: string | null;
  readonly name: string | null;
  readonly tags: string | null;
  readonly remote_id: string | null;
}

export const selectFound = (condition: string) => `
  SELECT request.id, fp, occ, generation, request.state, attempt, at, request.batch,
    queue.provider, endpoint, model, base, token, name, tags, remote_id
  FROM request JOIN queue ON queue.id = request.queue LEFT JOIN batch ON batch.id = request.batch
  WHERE ${condition}`;

export function foundRequest(
  row: FoundRow,
  found: FoundAnswer | undefined,
  body: string | undefined,
): FoundRequest {
  const { provider, endpoint, model, base, attempt, generation } = row;
  return {
    provider,
    endpoint,
    model,
    base,
    attempt,
    generation,
    request: row.id,
    fingerprint: row.fp,
    occurrence: row.occ,
    state: requestState(found?.state ?? row.state),
    at: found?.at ?? row.at,
    ...(row.token !== null && {
      batch: {
        token: row.token,
        ...(row.name !== null && { name: row.name }),
        tags: JSON.parse(row.tags ?? '{}'),
        ...(row.remote_id !== null && { remoteId: row.remote_id }),
      },
    }),
    ...(found && { answer: found.answer }),
    ...(body !== undefined && { body }),
  };
}
