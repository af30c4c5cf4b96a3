import type { Store } from '../connection/store.ts';

/** Counts for all processes of a run; the first occurrence is 0. */
export function prepareRunCount(store: Store): (run: string, fingerprint: Uint8Array) => number {
  const count = store.prepare(
    `INSERT INTO run_count (run, fp, n) VALUES (?, ?, 1)
     ON CONFLICT (run, fp) DO UPDATE SET n = n + 1
     RETURNING n - 1 AS occurrence`,
  );
  return (run, fingerprint) => {
    return (count.get(run, fingerprint) as { occurrence: number }).occurrence;
  };
}
