import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { type PendingRequest, standingFor } from '../model/request.ts';

/**
 * Takes a batch apart that will bring no answers: requests that nobody waits for any more are
 * forgotten, the others are in no batch and theirs who asks for it.
 */
export async function dissolve(
  { ledger, owner, batches, report }: Workshop,
  batch: ActiveBatch,
): Promise<readonly PendingRequest[]> {
  // The ledger knows it as over: nobody may be attached to it any more.
  batches.delete(batch.lease.batch);
  batch.outcomeIsKnown();
  const waiting: PendingRequest[] = [];
  const orphans: number[] = [];
  for (const { pending, request, settled } of batch.members.values()) {
    if (settled) continue;
    const callers = pending?.callers() ?? [];
    const stands = standingFor(callers.filter((caller) => !caller.settled));
    if (stands) waiting.push(stands);
    else orphans.push(request);
    for (const caller of callers) letGoOf(caller);
  }
  try {
    await ledger.settled(
      owner,
      orphans.map((request) => ({ request, is: 'release' }) as const),
    );
  } catch (error) {
    // Those who wait must not wait for nothing.
    report(`forget requests of batch ${batch.token}`, error);
  }
  return waiting;
}

/** Who has gone needs its body no more; it was kept for the upload. */
export function letGoOf(pending: PendingRequest): void {
  if (!pending.settled) return;
  pending.batch = undefined;
  pending.queue.spool.letGo(pending);
}
