import { isMissing } from '../base/is-missing.ts';
import { newStoreVariable } from '../base/run-variables.ts';
import { isDatabase, shownStore } from '../base/store-address.ts';
import type { BatchTime } from '../ledger/ledger.ts';
import { typicalTimes } from '../orchestrator/model/batch-times.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { DisplayedScope, FirstUse } from './display.ts';

interface Settings extends FirstUse {
  readonly store: string;
}

/** What the display is told of a scope. Must be called before the ledger is opened, because opening makes its file. */
export function displayedScope(
  stats: Stats,
  { store, retention, keep }: Settings,
  times: () => Promise<readonly BatchTime[]>,
): DisplayedScope {
  const isFile = store !== ':memory:' && !isDatabase(store);
  const isNew = isFile && (isMissing(store) || process.env[newStoreVariable] === store);
  return {
    stats,
    store: shownStore(store),
    firstUse: isNew ? { retention, keep } : undefined,
    typicalTimes: async () => typicalTimes(await times()),
  };
}
