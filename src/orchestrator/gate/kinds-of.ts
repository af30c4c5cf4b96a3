import { Slice } from '../../concurrency/event-loop.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { chunkAt } from '../submit/plan.ts';
import { type Kind, kindOf } from './kind.ts';

/**
 * The kinds of requests that are still wanted; `undefined` where a body cannot be read. Bodies are read some at
 * a time: they may be in the ledger.
 */
export async function kindsOf(
  queue: RequestQueue,
  requests: readonly Request[],
): Promise<readonly (readonly [Request, Kind | undefined])[]> {
  const found: (readonly [Request, Kind | undefined])[] = [];
  const slice = new Slice();
  for (let at = 0; at < requests.length; ) {
    const chunk = chunkAt(requests, at);
    at += chunk.length;
    const wanted = chunk.filter(isHere);
    // A request that is withdrawn meanwhile has no body any more.
    const bodies = await queue.bodies.read(wanted).catch(() => []);
    for (const [index, request] of wanted.entries()) {
      if (slice.isOver) await slice.next();
      const body = bodies[index];
      const { batcher, model } = queue;
      found.push([request, body === undefined ? undefined : kindOf(batcher, model, body)]);
    }
  }
  await slice.next();
  return found.filter(([request]) => isHere(request));
}

function isHere({ isUnsent, isWantedInTime }: Request): boolean {
  return isUnsent && isWantedInTime;
}
