import type { Standing } from '../../admission-rules.ts';
import { packedFingerprints } from '../../fingerprints.ts';
import type { BatchId, OwnerId, RequestId } from '../../ledger.ts';
import { type REQUEST, requestState } from '../../sql/codes.ts';
import type { FoundRow } from '../../sql/view/found-request.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';
import { fingerprintAt, identityKey } from './packed.ts';

interface KnownRow extends Pick<FoundRow, 'id' | 'fp' | 'occ' | 'generation' | 'attempt'> {
  readonly state: (typeof REQUEST)[keyof typeof REQUEST];
  readonly owner: OwnerId;
  readonly batch: BatchId | null;
  readonly seq: number | null;
  readonly token: string | null;
  readonly has_answer: boolean;
  readonly run: string | null;
  readonly closed: boolean;
  readonly alive: boolean | null;
}

/** One generation of a request, its batch and its owner, as an admission needs them. */
export interface Known {
  readonly id: RequestId;
  readonly generation: number;
  readonly state: ReturnType<typeof requestState>;
  readonly attempt: number;
  readonly batch: BatchId | null;
  /** It is on the wire as an ordinary call. */
  readonly isSent: boolean;
  readonly batchToken: string | null;
  readonly hasAnswer: boolean;
  standing(me: OwnerId, run: string): Standing;
}

/** All generations of requests, the newest first, by the keys of their asks. */
export type KnownRequests = Map<string, [Known, ...Known[]]>;

const FROM_IDENTITIES = `
  unnest($2::int[]) WITH ORDINALITY AS asked (occ, place)
  JOIN request ON request.fp = ${fingerprintAt('$1', 'place')} AND request.occ = asked.occ`;

export async function readKnown(
  session: Session,
  asks: readonly { fingerprint: Uint8Array; occurrence: number }[],
): Promise<KnownRequests> {
  const known: KnownRequests = new Map();
  if (asks.length === 0) return known;
  const rows = await session.rows<KnownRow>(
    `SELECT request.id, fp, request.occ, generation, request.state, attempt, request.owner, batch, seq, token,
       EXISTS (SELECT 1 FROM answer WHERE answer.request = request.id) AS has_answer,
       owner.run, owner.id IS NULL OR closed_at IS NOT NULL AS closed, ${ALIVE} AS alive
     FROM ${FROM_IDENTITIES}
       LEFT JOIN owner ON owner.id = request.owner
       LEFT JOIN batch ON batch.id = request.batch
     ORDER BY generation DESC`,
    valuesOf(asks),
  );
  for (const row of rows) {
    const key = identityKey(row.fp, row.occ);
    const others = known.get(key);
    if (others) others.push(knownOf(row));
    else known.set(key, [knownOf(row)]);
  }
  return known;
}

/** Until the transaction ends, nobody else writes these requests. */
export async function lockKnown(
  session: Session,
  asks: readonly { fingerprint: Uint8Array; occurrence: number }[],
): Promise<void> {
  if (asks.length === 0) return;
  await session.run(
    `SELECT 1 FROM ${FROM_IDENTITIES} ORDER BY request.id FOR UPDATE OF request`,
    valuesOf(asks),
  );
}

function valuesOf(asks: readonly { fingerprint: Uint8Array; occurrence: number }[]) {
  return [packedFingerprints(asks), asks.map(({ occurrence }) => occurrence)];
}

function knownOf(row: KnownRow): Known {
  const { id, generation, attempt, batch, owner, closed } = row;
  return {
    id,
    generation,
    attempt,
    batch,
    state: requestState(row.state),
    isSent: requestState(row.state) === 'admitted' && row.seq !== null,
    batchToken: row.token,
    hasAnswer: row.has_answer,
    standing: (me, run) => ({
      isMe: owner === me,
      sameRun: row.run === run,
      closed,
      alive: row.alive === true,
    }),
  };
}
