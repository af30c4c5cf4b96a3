import { shownStore } from '../../base/store-address.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Keep } from '../../ledger/ledger-options.ts';
import { openExistingLedger } from '../../ledger/open-ledger.ts';
import { useConfigFile } from '../../options/config/config-file.ts';
import { type ResolvedOptions, resolveOptions } from '../../options/index.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { configPath } from '../config-path.ts';

/** The flags that all commands on the ledger have. */
export interface LedgerFlags {
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Options as the programs of the project have them: of the config file and the variables. `--store` wins. */
export async function optionsFor({ store, config }: LedgerFlags): Promise<ResolvedOptions> {
  const path = configPath(config);
  if (path !== undefined) {
    const { loadConfig } = await import('../../options/config/load-config.ts');
    useConfigFile(await loadConfig(path));
  }
  return resolveOptions(store === undefined ? {} : { store });
}

/** The ledger that is there. `undefined`: there is none yet, and none is made. */
export function openExisting(
  { store, clock }: ResolvedOptions,
  keep: Keep = 'answers',
): Promise<Ledger | undefined> {
  return openExistingLedger(store, { clock, keep, warn: warnOnce });
}

export function noLedger({ store }: ResolvedOptions): string {
  return store === ':memory:'
    ? 'A ledger in memory ends with its program: there is nothing to look at.'
    : `There is no ledger at ${shownStore(store)} yet. A run of a program in batch mode makes one; ` +
        'one at another place is named by --store, BATCHLING_STORE or `store` in the config file.';
}

/** Does the work with the ledger and closes it. */
export async function withLedger<T>(
  ledger: Ledger,
  work: (ledger: Ledger) => Promise<T>,
): Promise<T> {
  try {
    return await work(ledger);
  } finally {
    await ledger.close();
  }
}
