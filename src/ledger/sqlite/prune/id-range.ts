import type { Store } from '../connection/store.ts';

/** Reads the first and the last id of a table. For an empty table the last one is before the first. */
export function prepareIdRange(
  store: Store,
  table: 'batch' | 'request',
): () => Promise<{ first: number; last: number }> {
  // Asked for in one query of their own, both ends would be looked for in the whole table.
  const select = store.prepare(
    `SELECT coalesce((SELECT min(id) FROM ${table}), 1) AS first,
       coalesce((SELECT max(id) FROM ${table}), 0) AS last`,
  );
  return () => store.read(() => select.get() as { first: number; last: number });
}
