import type { Cost } from '../../ledger/ledger.ts';
import { type Emit, tell } from '../events/events.ts';
import type { RealtimeRoute } from '../model/call.ts';
import { withCost } from './delivery.ts';

/** A realtime call of ours has its response. `cost`: as far as that is known. */
export function endRealtimeCall(
  route: RealtimeRoute,
  emit: Emit,
  status: number,
  cost: Cost | undefined,
): void {
  const paid = cost?.paid ?? (status >= 400 ? 0 : undefined);
  // The cost of a stream is not known: its estimate goes on to count.
  if (paid !== undefined) route.spending?.paid(paid);
  if (cost !== undefined || status < 300) route.addCost(cost);
  tell(emit, 'call:answered', withCost({ ...route.facts, status, source: 'realtime' }, cost));
}
