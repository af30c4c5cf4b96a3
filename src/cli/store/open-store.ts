import { shownStore } from '../../base/store-address.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { openExistingLedger } from '../../ledger/open-ledger.ts';
import { type ResolvedOptions, resolveOptions } from '../../options/index.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { configPath, useConfig } from '../config-path.ts';

/** The flags that all commands on the ledger have. */
export interface LedgerFlags {
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
}

/** Options as the programs of the project have them: of the config file and the variables. `--store` wins. */
export async function optionsFor({ store, config }: LedgerFlags): Promise<ResolvedOptions> {
  await useConfig(configPath(config));
  return resolveOptions(store === undefined ? {} : { store });
}

/**
 * The ledger that is there. `undefined`: there is none yet, and none is made. Answers that a command collects are kept
 * whatever the option `keep` says: the program is yet to get them.
 */
export function openExisting({ store, clock, keep }: ResolvedOptions): Promise<Ledger | undefined> {
  return openExistingLedger(store, {
    clock,
    keep: keep === 'all' ? 'all' : 'answers',
    warn: warnOnce,
  });
}

/** The same for commands that have nothing to do without a ledger. */
export async function requireLedger(options: ResolvedOptions): Promise<Ledger> {
  const ledger = await openExisting(options);
  if (ledger) return ledger;
  throw new Error(noLedger(options));
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
