import type { Batcher, FanOut, Match, Route } from '../../batchers/batcher.ts';
import { messageOf } from '../../errors.ts';
import { refuseCall } from '../collect/delivery.ts';
import type { CapturedCall, Policy } from '../model/call.ts';
import { factsOf, tell } from '../model/events.ts';
import type { OwnReason } from '../model/own-answer.ts';
import { offeredWindow } from '../queue/queue.ts';
import { type SplitHeaders, splitHeaders } from './credentials.ts';
import { fingerprintOf } from './fingerprint.ts';

/** A call that can be batched: parsed, routed and hashed. */
export interface Prepared {
  readonly headers: SplitHeaders;
  /** One, unless the call needs several requests. */
  readonly parts: readonly PreparedPart[];
  /** Makes one answer of those of the parts. */
  readonly join?: FanOut['join'];
}

export interface PreparedPart {
  readonly route: Route;
  readonly fingerprint: Buffer;
}

/** `undefined`: it has its verdict already. */
export function prepare(call: CapturedCall): Prepared | undefined {
  const { batcher } = call.target;
  try {
    const headers = headersOf(call);
    const match = matchOf(call, headers);
    if ('bypass' in match) {
      call.settle(match);
      return undefined;
    }
    const routes = 'parts' in match ? match.parts : [match];
    for (const route of routes) {
      if (!isChosen(call, route)) {
        call.settle({ passThrough: true });
        return undefined;
      }
      const refusal = windowRefusal(call, route) ?? deadlineRefusal(call);
      if (refusal !== undefined) {
        turnAway(call, 'unsupported', refusal);
        return undefined;
      }
    }
    const parts = routes.map((route) => partOf(call, route, headers));
    tell(call.scope.emit, 'call:captured', factsOf(batcher, routes[0] as Route));
    return 'parts' in match ? { headers, parts, join: match.join } : { headers, parts };
  } catch (error) {
    // A predicate or a batcher of the user's may throw: that is its own call's trouble. It goes
    // nowhere: nobody has said that it may be paid for.
    turnAway(call, 'unsupported', `The call cannot be batched: ${messageOf(error)}`);
    return undefined;
  }
}

function partOf({ target }: CapturedCall, route: Route, { extra }: SplitHeaders): PreparedPart {
  const named = extra.length > 0 ? { ...route, identity: [...route.identity, ...extra] } : route;
  return { route, fingerprint: fingerprintOf(target.batcher.info.name, target.base, named) };
}

/** Ends a call that gets no further than this with an error of ours: captured and answered in one. */
export function turnAway(call: CapturedCall, reason: OwnReason, message: string): void {
  if (call.settled) return;
  const facts = factsOf(call.target.batcher, asFarAsKnown(call));
  tell(call.scope.emit, 'call:captured', facts);
  refuseCall(call, facts, reason, message);
}

/** Where a call would have gone; one that cannot be read has its path at least. */
function asFarAsKnown(call: CapturedCall): Pick<Route, 'endpoint' | 'model'> {
  const unknown = { endpoint: call.target.path, model: '' };
  try {
    const match = matchOf(call, headersOf(call));
    if ('bypass' in match) return unknown;
    return 'parts' in match ? (match.parts[0] ?? unknown) : match;
  } catch {
    return unknown;
  }
}

function headersOf({ headers, target }: CapturedCall): SplitHeaders {
  return splitHeaders(headers, target.batcher.info, target.configured);
}

function matchOf({ body, target }: CapturedCall, { rest }: SplitHeaders): Match {
  const json = parseObject(body);
  if (json === undefined) return { bypass: 'the body is not a JSON object' };
  const { path, query } = target;
  return target.batcher.match({ query, path, headers: rest, body, json });
}

function isChosen({ scope, target }: CapturedCall, match: Route): boolean {
  if (scope.only === undefined) return true;
  const url = `${target.wireBase}${target.path}`;
  return scope.only({ ...factsOf(target.batcher, match), url });
}

/** The window that was found to be offered last: nearly every call asks for the same one. */
let offered: { batcher: Batcher; endpoint: string; model: string; policy: Policy } | undefined;

/** A completion window the provider does not offer is a clear error, not a silent other one. */
function windowRefusal(call: CapturedCall, route: Route): string | undefined {
  const { batcher } = call.target;
  const { policy } = call.scope;
  const { endpoint, model } = route;
  if (
    offered?.policy === policy &&
    offered.batcher === batcher &&
    offered.endpoint === endpoint &&
    offered.model === model
  ) {
    return undefined;
  }
  const limits = batcher.limits(route);
  if (offeredWindow(limits, policy.completionWindow)) {
    offered = { batcher, endpoint, model, policy };
    return undefined;
  }
  return (
    `completionWindow is not one that ${batcher.info.name} offers (${Object.keys(limits.windows).join(', ')}). ` +
    'Set the option completionWindow to one of these.'
  );
}

/** To send again what a cancelled batch has finished but not given would pay for it twice. */
function deadlineRefusal({ target, scope }: CapturedCall): string | undefined {
  const { name, cancelLosesWork } = target.batcher.info;
  if (!cancelLosesWork || scope.deadline === undefined || scope.onDeadline === 'error') {
    return undefined;
  }
  if (scope.cancelsAtAnyCost(name)) return undefined;
  return (
    `onDeadline "realtime" would pay twice at ${name}: cancelling a batch there loses the answers ` +
    `that are finished. Use onDeadline "error", leave the deadline out, or accept it with ` +
    `providers: { ${name}: { cancelAtDeadline: true } }.`
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
