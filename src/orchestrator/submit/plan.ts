import { setImmediate as immediate } from 'node:timers/promises';
import type { Item, Plan } from '../../batchers/batcher.ts';
import type { Spool } from '../capture/spool.ts';
import type { ActiveBatch } from '../model/batch.ts';
import { labelsOf } from '../model/labels.ts';
import type { PendingRequest } from '../model/request.ts';

/** What is held of an upload at once: so many items, or bytes of them, whichever is less. */
const itemsPerChunk = 64;
const bytesPerChunk = 1024 * 1024;

/** A batch as its batcher sees it before it is sent. */
export function planOf(batch: ActiveBatch, members: readonly PendingRequest[], spool: Spool): Plan {
  const { queue, batcher } = batch;
  const { name, tags } = labelsOf(batch.scopes);
  return {
    token: batch.token,
    route: queue,
    count: batch.members.size,
    bytes: members.reduce((sum, pending) => sum + pending.bytes, 0),
    completionWindow: queue.completionWindow.word,
    settings: [...batch.scopes][0]?.settings(batcher.info.name) ?? {},
    tags: { ...tags, ...(name !== undefined && { name }) },
    async *items() {
      for (let at = 0; at < members.length; ) {
        const group = chunkAt(members, at);
        at += group.length;
        const bodies = await spool.read(group);
        // An upload that the network takes at once would otherwise be one long slice.
        await immediate();
        yield group.map((pending, index) => itemOf(pending, bodies[index] as string));
      }
    },
  };
}

function chunkAt(members: readonly PendingRequest[], start: number): readonly PendingRequest[] {
  let bytes = 0;
  let end = start;
  while (end < members.length && end - start < itemsPerChunk && bytes < bytesPerChunk) {
    bytes += (members[end] as PendingRequest).bytes;
    end += 1;
  }
  return members.slice(start, end);
}

function itemOf(pending: PendingRequest, body: string): Item {
  const { id, queue } = pending;
  return { id, body, ...queue.batcher.envelope(queue, id) };
}
