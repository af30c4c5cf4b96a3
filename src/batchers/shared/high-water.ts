import { field, text } from '../../base/json.ts';
import type { Handle } from '../../base/types.ts';
import type { Wire } from '../../http/wire.ts';
import type { Found, Remote } from '../batcher.ts';
import { type BatchList, batchPages } from './batch-list.ts';
import { createdAt, ListOrder, newestBatch } from './list-order.ts';

/**
 * The newest batch of the account, remembered before a create of which the provider echoes nothing: our batch
 * must be newer.
 *
 * @example
 * stage(wire: Wire) {
 *   return highWaterOf(wire, batchList);
 * }
 */
export async function highWaterOf(wire: Wire, list: BatchList): Promise<Handle> {
  const newest = await newestBatch(wire, list);
  const id = text(field(newest, 'id'));
  if (id === undefined) return {};
  const at = createdAt(newest);
  return { highWater: id, ...(at !== undefined && { highWaterAt: String(at) }) };
}

/**
 * The batches above the mark that could be ours.
 *
 * @example
 * find(wire: Wire, plan: Pick<Plan, 'count'>, handle: Handle) {
 *   return findAbove(wire, batchList, handle, ({ counts }) => counts?.total === plan.count);
 * }
 */
export async function findAbove(
  wire: Wire,
  list: BatchList,
  handle: Handle,
  isCandidate: (remote: Remote, batch: unknown) => boolean,
): Promise<Found> {
  const remotes: Remote[] = [];
  const order = new ListOrder();
  const mark = { id: handle.highWater, at: timeOf(handle.highWaterAt), isPassed: false };
  for await (const page of batchPages(wire, list)) {
    order.read(page);
    for (const batch of page) {
      if (isOlder(batch, mark)) continue;
      const remote = list.toRemote(batch, wire);
      if (isCandidate(remote, batch)) remotes.push(remote);
    }
    if (mark.at === undefined ? mark.isPassed : order.isPast(mark.at)) break;
  }
  return remotes.length > 0 ? { kind: 'candidates', remotes } : { kind: 'absent' };
}

interface Mark {
  readonly id: string | undefined;
  readonly at: number | undefined;
  isPassed: boolean;
}

/** Compares times where there are any. Without them the order of the list has to be believed. */
function isOlder(batch: unknown, mark: Mark): boolean {
  if (field(batch, 'id') === mark.id) {
    mark.isPassed = true;
    return true;
  }
  const at = createdAt(batch);
  return mark.at === undefined || at === undefined ? mark.isPassed : at < mark.at;
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}
