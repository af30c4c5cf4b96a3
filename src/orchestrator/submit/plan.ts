import type { ItemId } from '../../base/types.ts';
import type { Item, Plan } from '../../batchers/batcher.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import { labelsOf } from '../events/batch-labels.ts';
import type { Batch } from '../model/batch.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** What is held of an upload at once: so many items, or bytes of them, whichever is less. */
const itemsPerChunk = 64;
const bytesPerChunk = 1024 * 1024;

/** A line that is to be sent. */
export interface PlannedLine {
  readonly id: ItemId;
  /** The size of the encoded item. */
  readonly bytes: number;
}

/** A batch as its batcher sees it before it is sent. `requests`: in the order of its lines. */
export function planOf(batch: Batch, requests: readonly Request[]): Plan {
  return planOfLines(batch, requests, (group) => batch.queue.bodies.read(group), itemsPerChunk);
}

/** The same for anything that has bodies. `most`: lines that are encoded at once. */
export function planOfLines<Line extends PlannedLine>(
  batch: Batch,
  lines: readonly Line[],
  bodiesOf: (group: readonly Line[]) => Promise<readonly string[]>,
  most: number,
): Plan {
  const { queue } = batch;
  const { name, tags } = labelsOf(batch.scopes);
  return {
    token: batch.token,
    route: queue,
    count: batch.members.size,
    bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0),
    completionWindow: queue.completionWindow.word,
    settings: [...batch.scopes][0]?.settings(batch.batcher.info.name) ?? {},
    tags: { ...tags, ...(name !== undefined && { name }) },
    async *items() {
      for (let at = 0; at < lines.length; ) {
        const group = chunkAt(lines, at, most);
        at += group.length;
        const bodies = await bodiesOf(group);
        // An upload that the network takes at once would otherwise be one long slice.
        await nextTurn();
        yield group.map((line, index) => itemOf(queue, line.id, bodies[index] as string));
      }
    },
  };
}

/** As many requests from `start` on as are held at once. */
export function chunkAt<Line extends { readonly bytes: number }>(
  lines: readonly Line[],
  start: number,
  most = itemsPerChunk,
): readonly Line[] {
  let bytes = 0;
  let end = start;
  while (end < lines.length && end - start < most && bytes < bytesPerChunk) {
    bytes += (lines[end] as Line).bytes;
    end += 1;
  }
  return lines.slice(start, end);
}

function itemOf(queue: RequestQueue, id: ItemId, body: string): Item {
  const { before, after } = queue.batcher.envelope(queue, id);
  return { id, body, before, after };
}
