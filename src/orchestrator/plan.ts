import type { Item, Plan } from '../batchers/batcher.ts';
import { parseDuration } from '../duration.ts';
import type { ActiveBatch } from './active-batch.ts';
import type { EngineScope, PendingRequest } from './pending.ts';
import type { Spool } from './spool.ts';

const itemsPerChunk = 64;

/** A batch as its batcher sees it before it is sent. */
export function planOf(
  batch: ActiveBatch,
  members: readonly PendingRequest[],
  scope: EngineScope,
  spool: Spool,
): Plan {
  const { queue, batcher } = batch;
  const { windows } = batcher.limits(queue.endpoint);
  const asked = queue.policy.completionWindow;
  return {
    token: batch.token,
    route: queue,
    count: batch.members.size,
    bytes: members.reduce((sum, pending) => sum + pending.bytes, 0),
    completionWindow: windows.find((offered) => parseDuration(offered) === asked) as string,
    tags: { ...scope.tags, ...(scope.name && { name: scope.name }) },
    async *items() {
      for (let at = 0; at < members.length; at += itemsPerChunk) {
        const group = members.slice(at, at + itemsPerChunk);
        const bodies = await spool.read(group);
        yield group.map((pending, index) => itemOf(pending, bodies[index] as string));
      }
    },
  };
}

function itemOf(pending: PendingRequest, body: string): Item {
  const { id, queue } = pending;
  return { id, body, ...queue.batcher.envelope(queue, id) };
}
