import type { Wire } from '../../http/wire.ts';
import { type BatchList, batchPages } from './batch-list.ts';
import { createdAt, ListOrder } from './list-order.ts';

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
