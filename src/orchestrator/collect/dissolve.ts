import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';

/**
 * Takes a batch apart that will bring no answers: requests that nobody waits for any more are forgotten,
 * the others are returned, and in no batch.
 */
export async function dissolve(
  { ledger, owner, report }: EngineContext,
  batch: Batch,
): Promise<readonly Request[]> {
  const waiting: Request[] = [];
  const orphans: number[] = [];
  for (const member of batch.members.values()) {
    const { request, row, isSettled } = member;
    if (isSettled) continue;
    member.request = undefined;
    request?.leaveBatch();
    if (request?.isWaitedFor) {
      waiting.push(request);
    } else {
      // Callers that have left it come back, and find their requests admitted.
      if (!batch.isLeft) orphans.push(row);
      request?.end();
    }
  }
  try {
    const releases = orphans.map((request) => ({ request, is: 'release' }) as const);
    await owner.run((id) => ledger.settled(id, releases));
  } catch (error) {
    // Callers that wait must hear of it all the same.
    report(`forget requests of batch ${batch.token}`, error);
  }
  return waiting;
}
