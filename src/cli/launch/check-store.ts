import { existsSync } from 'node:fs';
import { BatchlingError } from '../../base/errors.ts';
import { newStoreVariable } from '../../base/run-variables.ts';
import { isDatabase } from '../../base/store-address.ts';
import { openExistingLedger, openLedger } from '../../ledger/open-ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { RunEnvironment, Variables } from './run-environment.ts';

/** A config file may name another ledger, and is loaded by the program's process: see `use-config.ts`. */
export async function checkStoreOf(environment: RunEnvironment): Promise<void> {
  const { config, isInner, options, variables } = environment;
  if (config === undefined && !isInner) await checkStore(options, variables);
}

type StoreOptions = Pick<ResolvedOptions, 'store' | 'onStoreError' | 'dryRun'>;

/**
 * Opens the ledger once before the program starts. A ledger that cannot be used would otherwise be the error
 * of some call in the middle of the program. `variables`: of the processes that are to use it.
 */
export async function checkStore(
  { store, onStoreError, dryRun }: StoreOptions,
  variables: Variables,
): Promise<void> {
  if (store === ':memory:' || onStoreError === 'continue') return;
  try {
    if (!dryRun && !isDatabase(store) && !existsSync(store)) variables[newStoreVariable] = store;
    const ledger = await (dryRun ? openExistingLedger(store) : openLedger(store));
    await ledger?.close();
  } catch (error) {
    if (!BatchlingError.isInstance(error)) throw error;
    const { code, message, facts } = error;
    const advice = 'The program was not started. Another ledger is named with --store.';
    throw new BatchlingError(code, `${message} ${advice}`, { cause: error, facts });
  }
}
