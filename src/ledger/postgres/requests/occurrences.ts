import { fingerprintKey, packedFingerprints } from '../../fingerprints.ts';
import type { Ask } from '../../ledger.ts';
import type { Session } from '../connection/store.ts';
import { fingerprintAt, identityKey } from './packed.ts';

/** An ask whose occurrence is known, and its place among all asks. */
export interface PlacedAsk extends Ask {
  readonly occurrence: number;
  readonly place: number;
  /** Its fingerprint and its occurrence as one text. */
  readonly key: string;
}

/** Counts `next` for all processes of a run, with one statement for all asks. */
export async function countOccurrences(
  session: Session,
  run: string,
  asks: readonly Ask[],
): Promise<PlacedAsk[]> {
  const counted = new Map<string, { fingerprint: Uint8Array; times: number; next: number }>();
  for (const { fingerprint, occurrence } of asks) {
    if (occurrence !== 'next') continue;
    const known = counted.get(fingerprintKey(fingerprint));
    if (known) known.times += 1;
    else counted.set(fingerprintKey(fingerprint), { fingerprint, times: 1, next: 0 });
  }
  if (counted.size > 0) {
    const groups = [...counted.values()];
    // In the order of fingerprints, as everywhere: two processes that lock the same rows do not deadlock.
    const rows = await session.rows<{ fp: Uint8Array; n: number }>(
      `INSERT INTO run_count (run, fp, n)
       SELECT $1, ${fingerprintAt('$2', 'place')}, times
       FROM unnest($3::int[]) WITH ORDINALITY AS given (times, place) ORDER BY 2
       ON CONFLICT (run, fp) DO UPDATE SET n = run_count.n + excluded.n
       RETURNING fp, n`,
      [run, packedFingerprints(groups), groups.map(({ times }) => times)],
    );
    for (const { fp, n } of rows) {
      const group = counted.get(fingerprintKey(fp));
      if (group) group.next = n - group.times;
    }
  }
  return asks.map((ask, place) => {
    const group =
      ask.occurrence === 'next' ? counted.get(fingerprintKey(ask.fingerprint)) : undefined;
    const occurrence = group ? group.next++ : Number(ask.occurrence);
    return { ...ask, occurrence, place, key: identityKey(ask.fingerprint, occurrence) };
  });
}
