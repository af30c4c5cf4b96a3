import { existsSync } from 'node:fs';
import { newStoreVariable } from '../base/run-variables.ts';
import { isDatabase, shownStore } from '../base/store-address.ts';
import type { BatchSummary } from '../ledger/ledger.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { DisplayedScope, FirstUse } from './display.ts';
import { typicalTimes } from './typical-times.ts';

interface Settings extends FirstUse {
  readonly store: string;
  readonly completionWindow: number;
}

/** What the display is told of a scope. Must be called before the ledger is opened, because opening makes its file. */
export function displayedScope(
  stats: Stats,
  { store, completionWindow, retention, keep }: Settings,
  past: () => Promise<readonly BatchSummary[]>,
): DisplayedScope {
  const isFile = store !== ':memory:' && !isDatabase(store);
  const isNew = isFile && (isMissing(store) || process.env[newStoreVariable] === store);
  return {
    stats,
    store: shownStore(store),
    completionWindow,
    firstUse: isNew ? { retention, keep } : undefined,
    typicalTimes: async () => typicalTimes(await past()),
  };
}

/** A file that Node may not look at (--permission) is not known to be missing. */
function isMissing(path: string): boolean {
  try {
    return !existsSync(path);
  } catch {
    return false;
  }
}
