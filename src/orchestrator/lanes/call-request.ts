import type { Dict } from '../../base/types.ts';
import type { FlexTier } from '../../batchers/batcher.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { LiveStream } from '../../streams/live-stream.ts';
import type { Caller } from '../model/caller.ts';
import type { Request } from '../model/request.ts';

/** An ordinary call without a tier is given up after so many milliseconds without a byte. */
const usualPatience = 10 * 60_000;

/** Headers of a connection, and those that we write ourselves. */
const notPassedOn =
  /^(host|connection|keep-alive|content-length|transfer-encoding|accept|accept-encoding|expect|te|upgrade|proxy-.*|x-batchling.*)$/;

/** The request as one ordinary call, with the headers and the path of its caller, and its tier if it has one. */
export function callRequest(
  request: Request,
  body: string,
  tier?: FlexTier,
  live?: LiveStream,
): WireRequest {
  const { queue, batcher } = request;
  const { call, headers = {} } = callerOf(request);
  const { target, scope } = call;
  const { path, query } = target;
  const settings = scope.settings(batcher.info.name);
  const ordinary = batcher.ordinary(
    { path, query: withoutThese(query, batcher.info.baseQuery ?? []), settings },
    { model: queue.model, body, batchHeaders: queue.batchHeaders },
  );
  // At its deadline a call goes out at full price, also where its caller has asked for the tier.
  const leftOut = tier === undefined && request.isLate ? batcher.flex(queue) : undefined;
  const asked = tier?.ask(ordinary.body) ?? leftOut?.leaveOut(ordinary.body) ?? ordinary.body;
  const accept = live ? 'text/event-stream' : 'application/json';
  const { headers: fixed = queue.batchHeaders, audience } = ordinary;
  const own = { 'content-type': 'application/json', accept };
  return {
    method: 'POST',
    path: live?.path?.(ordinary.path) ?? ordinary.path,
    headers: { ...passedOn(headers, leftOut?.headers), ...fixed, ...own, ...tier?.headers },
    body: live ? live.ask(asked) : asked,
    idleTimeout: tier?.patience ?? usualPatience,
    ...(audience !== undefined && { audience }),
  };
}

/** A caller that waits, or one that has left: all have asked the same. */
function callerOf({ callers }: Request): Caller {
  return (callers.find(({ isSettled }) => !isSettled) ?? callers[0]) as Caller;
}

function passedOn(headers: Dict, leftOut: Dict = {}): Dict {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) => !notPassedOn.test(name) && leftOut[name] !== value,
    ),
  );
}

/** The base carries these parameters already. */
function withoutThese(query: string, names: readonly string[]): string {
  if (query === '' || names.length === 0) return query;
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => !names.includes([...new URLSearchParams(pair).keys()][0] ?? ''));
  return kept.length > 0 ? `?${kept.join('&')}` : '';
}
