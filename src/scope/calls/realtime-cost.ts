import type { Cost } from '../../ledger/ledger.ts';
import { costOf } from '../../orchestrator/answer/answer-cost.ts';
import type { RealtimeRoute } from '../../orchestrator/model/call.ts';
import { loadPrices } from '../../pricing/price-list.ts';

/**
 * What a realtime call has cost, read from a copy of its response while the caller reads the response
 * itself. `undefined`: nothing in it says so, such as a stream of events or an error.
 */
export function readCost(
  response: Response,
  route: RealtimeRoute,
): Promise<Cost | undefined> | undefined {
  const isJson = /\bjson\b/i.test(response.headers.get('content-type') ?? '');
  if (!response.ok || !isJson || response.body === null) return undefined;
  // An answer that cannot be read or has no price is not counted.
  return readCopy(response.clone(), route).catch(() => undefined);
}

/** The answer's own word for its tier decides about its price: its body may have asked for flex. */
async function readCopy(copy: Response, route: RealtimeRoute): Promise<Cost | undefined> {
  const [json] = await Promise.all([copy.json() as Promise<unknown>, loadPrices()]);
  const tier = route.batcher.flex(route.facts);
  const headers = Object.fromEntries(copy.headers);
  const isFlex = tier?.hasServed({ status: copy.status, headers, body: '', json });
  return costOf(route, json, isFlex ? tier : undefined);
}
