import type { Ledger, OwnerId } from '../../ledger.ts';

/**
 * Afterwards the first transaction of the next call runs before that call gives back its promise. The
 * first empty write waits for a checkpoint that may be under way. Its own commit may start another
 * one, for which the second write waits.
 */
export async function awaitCheckpoint(ledger: Ledger, owner: OwnerId): Promise<void> {
  await ledger.withdraw(owner, []);
  await ledger.withdraw(owner, []);
}
