import type { Item, Plan } from '../../batchers/batcher.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import { labelsOf } from '../events/batch-labels.ts';
import type { Batch } from '../model/batch.ts';
import type { Request } from '../model/request.ts';

/** What is held of an upload at once: so many items, or bytes of them, whichever is less. */
const itemsPerChunk = 64;
const bytesPerChunk = 1024 * 1024;

/** A batch as its batcher sees it before it is sent. `requests`: in the order of its lines. */
export function planOf(batch: Batch, requests: readonly Request[]): Plan {
  const { queue } = batch;
  const { name, tags } = labelsOf(batch.scopes);
  return {
    token: batch.token,
    route: queue,
    count: batch.members.size,
    bytes: requests.reduce((sum, { bytes }) => sum + bytes, 0),
    completionWindow: queue.completionWindow.word,
    settings: [...batch.scopes][0]?.settings(batch.batcher.info.name) ?? {},
    tags: { ...tags, ...(name !== undefined && { name }) },
    async *items() {
      for (let at = 0; at < requests.length; ) {
        const group = chunkAt(requests, at);
        at += group.length;
        const bodies = await queue.bodies.read(group);
        // An upload that the network takes at once would otherwise be one long slice.
        await nextTurn();
        yield group.map((request, index) => itemOf(request, bodies[index] as string));
      }
    },
  };
}

function chunkAt(requests: readonly Request[], start: number): readonly Request[] {
  let bytes = 0;
  let end = start;
  while (end < requests.length && end - start < itemsPerChunk && bytes < bytesPerChunk) {
    bytes += (requests[end] as Request).bytes;
    end += 1;
  }
  return requests.slice(start, end);
}

function itemOf({ id, queue }: Request, body: string): Item {
  return { id, body, ...queue.batcher.envelope(queue, id) };
}
