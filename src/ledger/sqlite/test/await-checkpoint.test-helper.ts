import type { Ledger } from '../../ledger.ts';

/**
 * Afterwards the first transaction of the next call runs before that call gives back its promise. A prune
 * that drops nothing ends with a checkpoint, so none is under way, and no earlier transaction counts towards the
 * next one, however long it took.
 */
export async function awaitCheckpoint(ledger: Ledger): Promise<void> {
  await ledger.prune({ maxBytes: Number.MAX_SAFE_INTEGER, shrinks: true });
}
