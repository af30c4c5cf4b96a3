import { fields } from '../../base/json.ts';
import type { Wire } from '../../http/wire.ts';
import { type BatchList, batchPages } from './batch-list.ts';

/** When a batch was created, in milliseconds: providers write seconds or an ISO date. */
export function createdAt(batch: unknown): number | undefined {
  const { created_at: created, create_time: createTime, createTime: camelCase } = fields(batch);
  const value = created ?? createTime ?? camelCase;
  const time = typeof value === 'number' ? value * 1000 : Date.parse(String(value));
  return Number.isFinite(time) ? time : undefined;
}

/**
 * In which order a list comes. Providers list the newest batch first, but none of them promises it, so
 * only what the times in the list show is relied on.
 */
export class ListOrder {
  #last: number | undefined;
  #descends = false;
  /** Nothing that was read so far is younger than what came before it. */
  newestFirst = true;

  read(batches: readonly unknown[]): void {
    for (const batch of batches) {
      const at = createdAt(batch);
      if (at === undefined || at > (this.#last ?? at)) this.newestFirst = false;
      if (at !== undefined && this.#last !== undefined && at < this.#last) this.#descends = true;
      this.#last = at;
    }
  }

  /** Everything that is still to come was created before `time`. */
  isPast(time: number | undefined): boolean {
    if (time === undefined || this.#last === undefined) return false;
    return this.newestFirst && this.#descends && this.#last < time;
  }
}

/**
 * The newest batch of an account, by the provider's own clock; `undefined` if there is none. What is created
 * afterwards cannot be older. One page is enough, unless it shows that the list does not begin with the newest.
 */
export async function newestBatch(wire: Wire, list: BatchList): Promise<unknown> {
  const order = new ListOrder();
  let newest: unknown;
  for await (const page of batchPages(wire, list, 20)) {
    order.read(page);
    for (const batch of page) {
      if (newest === undefined || isYounger(batch, newest)) newest = batch;
    }
    if (order.newestFirst) break;
  }
  return newest;
}

function isYounger(batch: unknown, than: unknown): boolean {
  return (createdAt(batch) ?? 0) > (createdAt(than) ?? 0);
}
