import { BatchlingError } from '../../errors.ts';
import { openExistingLedger, openLedger } from '../../ledger/open-ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { RunEnvironment } from './run-environment.ts';

/** A config file may name another ledger, and is loaded by the program's process: see `use-config.ts`. */
export async function checkStoreOf({ config, isInner, options }: RunEnvironment): Promise<void> {
  if (config === undefined && !isInner) await checkStore(options);
}

type StoreOptions = Pick<ResolvedOptions, 'store' | 'onStoreError' | 'dryRun'>;

/**
 * Opens the ledger once before the program starts. A ledger that cannot be used would otherwise be the error
 * of some call in the middle of the program.
 */
export async function checkStore({ store, onStoreError, dryRun }: StoreOptions): Promise<void> {
  if (store === ':memory:' || onStoreError === 'continue') return;
  try {
    const ledger = await (dryRun ? openExistingLedger(store) : openLedger(store));
    await ledger?.close();
  } catch (error) {
    if (!BatchlingError.isInstance(error)) throw error;
    const { code, message, facts } = error;
    const advice = 'The program was not started. Another ledger is named with --store.';
    throw new BatchlingError(code, `${message} ${advice}`, { cause: error, facts });
  }
}
