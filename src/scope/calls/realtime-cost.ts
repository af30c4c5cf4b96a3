import { costOf } from '../../orchestrator/answer/answer-cost.ts';
import type { BatchlingEvents } from '../../orchestrator/events/events.ts';
import type { RealtimeRoute } from '../../orchestrator/model/call.ts';
import { loadPrices } from '../../pricing/price-list.ts';

export type Cost = Pick<
  BatchlingEvents['call:answered'],
  'inputTokens' | 'outputTokens' | 'dollars'
>;

/**
 * What a realtime call has cost, read from a copy of its response while the caller reads the response
 * itself. `undefined`: nothing in it says so, such as a stream of events or an error.
 */
export function readCost(response: Response, route: RealtimeRoute): Promise<Cost> | undefined {
  const isJson = /\bjson\b/i.test(response.headers.get('content-type') ?? '');
  if (!response.ok || !isJson || response.body === null) return undefined;
  // An answer that cannot be read or has no price is not counted.
  return readCopy(response.clone(), route).catch(() => ({}));
}

async function readCopy(copy: Response, route: RealtimeRoute): Promise<Cost> {
  const [json] = await Promise.all([copy.json() as Promise<unknown>, loadPrices()]);
  const cost = costOf(route, json);
  if (cost === undefined) return {};
  const { inputTokens, outputTokens, paid, saved } = cost;
  if (paid === undefined || saved === undefined) return { inputTokens, outputTokens };
  return { inputTokens, outputTokens, dollars: { paid, saved } };
}
