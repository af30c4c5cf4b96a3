import type { OwnerId } from '../../ledger.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';

/** Drops the counts of runs that nobody can go on with. */
export function preparePruneRunCounts(
  store: Store,
): (alive: readonly OwnerId[], before: number) => Promise<void> {
  const findNext = store.prepare('SELECT min(run) AS run FROM run_count WHERE run > ?');
  const isNeeded = store.prepare(
    `SELECT 1 FROM owner
     WHERE run = ? AND (joined_at >= ? OR id IN (SELECT value FROM json_each(?))) LIMIT 1`,
  );
  const remove = store.prepare(
    `DELETE FROM run_count WHERE run = ?1 AND fp IN (
       SELECT fp FROM run_count WHERE run = ?1 LIMIT ?2
     )`,
  );

  /** Asked again under the lock: another process of the run may have joined since. */
  const removeSome = (run: string, isLeft: () => boolean, most: number) =>
    isLeft() ? Number(remove.run(run, most).changes) : 0;

  return async (alive, before) => {
    const owners = JSON.stringify(alive);
    const pace = new Pace({ least: 50, most: 2_000 });
    const next = async (run: string) => {
      const row = (await store.read(() => findNext.get(run))) as { run: string | null };
      return row.run;
    };
    for (let run = await next(''); run !== null; run = await next(run)) {
      const name = run;
      const isLeft = () => isNeeded.get(name, before, owners) === undefined;
      const isAnyLeft = await store.read(isLeft);
      for (let removed = isAnyLeft ? 1 : 0; removed > 0; await nextTurn()) {
        removed = await store.write(() => removeSome(name, isLeft, pace.rows), { pace });
      }
    }
  };
}
