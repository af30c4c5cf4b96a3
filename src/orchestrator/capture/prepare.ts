import { messageOf } from '../../base/errors.ts';
import { type JsonObject, parseObject } from '../../base/json.ts';
import type { Expectation, FanOut, Match, Route } from '../../batchers/batcher.ts';
import { refuseCall } from '../answer/delivery.ts';
import type { OwnReason } from '../answer/own-answer.ts';
import { factsOf, inLane, tell } from '../events/events.ts';
import type { CapturedCall } from '../model/call.ts';
import { callRefusal, textRefusal } from './call-refusal.ts';
import { type CredentialFunction, type SplitHeaders, splitHeaders } from './credentials.ts';
import { fingerprintOf } from './fingerprint.ts';

/** One request of a call. */
export interface Part {
  readonly route: Route;
  /** Its fingerprint, a character per byte. */
  readonly key: string;
  readonly expects: Expectation;
}

/** A call that can be batched: parsed, routed and hashed. */
export interface Prepared {
  readonly headers: SplitHeaders;
  /** One request, as a rule. */
  readonly parts: readonly [Part, ...Part[]];
  /** Makes one answer of the answers to several parts. */
  readonly join: FanOut['join'] | undefined;
}

/**
 * `undefined`: it has its verdict already.
 *
 * This runs for every call: closures over its variables would cost each of them a context, so there are none.
 *
 * @param leaveOut - what happens to a call that `only` does not choose; in a dry run it must not go out.
 */
export function prepare(
  call: CapturedCall,
  leaveOut?: (ready: Prepared) => void,
): Prepared | undefined {
  try {
    const headers = headersOf(call);
    const json = parseObject(call.body);
    const match = matchOf(call, headers, json);
    if ('bypass' in match) {
      call.settle(match);
      return undefined;
    }
    if ('unconfigured' in match) {
      if (isChosen(call, match)) turnAway(call, 'unsupported', match.unconfigured);
      else call.settle({ leftOut: nameOf(call, match) });
      return undefined;
    }
    const first = 'parts' in match ? match.parts[0] : match;
    if (first === undefined) {
      turnAway(call, 'unsupported', 'The call cannot be batched: it asks for nothing.');
      return undefined;
    }
    if (call.scope.only && !areChosen(call, routesOf(match))) {
      if (leaveOut) leaveOut(preparedOf(call, match, headers, json));
      else call.settle({ leftOut: nameOf(call, first) });
      return undefined;
    }
    const refusal = callRefusal(call, match);
    if (refusal !== undefined) {
      turnAway(call, 'unsupported', refusal);
      return undefined;
    }
    const facts = factsOf(call.target.batcher, first);
    tell(call.scope.emit, 'call:captured', inLane(facts, call.scope.policy.lane));
    return preparedOf(call, match, headers, json);
  } catch (error) {
    // A predicate or a batcher of the user's may throw: that is its own call's trouble. It goes
    // nowhere: nobody has said that it may be paid for.
    turnAway(call, 'unsupported', `The call cannot be batched: ${messageOf(error)}`);
    return undefined;
  }
}

/** What is known of a line of a job that asks for something, as a call would. */
export type LineFacts = Pick<CapturedCall, 'scope' | 'target' | 'headers' | 'body'>;

/** The requests that a line of a job needs, or why it cannot be batched. `json`: its body, which the job has parsed. */
export function prepareLine(line: LineFacts, json: JsonObject): Prepared | string {
  const headers = headersOf(line);
  const match = matchOf(line, headers, json);
  if ('bypass' in match) return match.bypass;
  if ('unconfigured' in match) return match.unconfigured;
  return callRefusal(line, match) ?? preparedOf(line, match, headers, json);
}

/** `openai:gpt-5-mini` */
function nameOf({ target }: CapturedCall, { model }: Pick<Route, 'model'>): string {
  return `${target.provider}:${model}`;
}

function routesOf(match: Route | FanOut): readonly Route[] {
  return 'parts' in match ? match.parts : [match];
}

function preparedOf(
  call: Pick<CapturedCall, 'target'>,
  match: Route | FanOut,
  headers: SplitHeaders,
  json: JsonObject = {},
): Prepared {
  if (!('parts' in match)) {
    return { headers, parts: [partOf(call, match, headers.extra, json)], join: undefined };
  }
  const parts = match.parts.map((route) => partOf(call, route, headers.extra, json));
  return { headers, parts: parts as [Part, ...Part[]], join: match.join.bind(match) };
}

function areChosen(call: CapturedCall, routes: readonly Route[]): boolean {
  return routes.every((route) => isChosen(call, route));
}

function partOf(
  { target }: Pick<CapturedCall, 'target'>,
  match: Route,
  extra: readonly string[],
  json: JsonObject,
): Part {
  const { batcher, base } = target;
  const route = extra.length > 0 ? { ...match, identity: [...match.identity, ...extra] } : match;
  const expects = sharedExpectation(batcher.expects(route, json));
  return { route, key: fingerprintOf(batcher.info.name, base, route), expects };
}

let lastExpectation: Expectation = { outputLimit: undefined, answers: 1 };

/** Nearly all requests of a program expect the same: one object in memory serves them. */
function sharedExpectation(given: Expectation): Expectation {
  const last = lastExpectation;
  const isSame =
    last.outputLimit === given.outputLimit &&
    last.answers === given.answers &&
    last.cachePrefix?.key === given.cachePrefix?.key &&
    last.cacheWriteTokens === given.cacheWriteTokens &&
    last.cacheWrite1hTokens === given.cacheWrite1hTokens;
  if (!isSame) lastExpectation = given;
  return isSame ? last : given;
}

/** Ends a call that gets no further than this with an error of ours: captured and answered in one. */
export function turnAway(call: CapturedCall, reason: OwnReason, message: string): void {
  if (call.settled) return;
  const known = factsOf(call.target.batcher, asFarAsKnown(call));
  const facts = inLane(known, call.scope.policy.lane);
  tell(call.scope.emit, 'call:captured', facts);
  refuseCall(call, facts, reason, message);
}

/** Where a call would have gone; one that cannot be read has its path at least. */
function asFarAsKnown(call: CapturedCall): Pick<Route, 'endpoint' | 'model'> {
  const unknown = { endpoint: call.target.path, model: '' };
  try {
    const match = matchOf(call, headersOf(call), parseObject(call.body));
    if ('bypass' in match) return unknown;
    if ('unconfigured' in match) return match;
    const [route] = routesOf(match);
    return route && textRefusal(call, route) === undefined ? route : unknown;
  } catch {
    return unknown;
  }
}

export function headersOf({
  headers,
  target,
  scope,
}: Pick<CapturedCall, 'scope' | 'target' | 'headers'>): SplitHeaders {
  const { info } = target.batcher;
  const { credential } = scope.settings(info.name);
  return splitHeaders(headers, info, target.configured, {
    query: target.credentials,
    credential: credential as CredentialFunction | undefined,
  });
}

function matchOf(
  { body, target, scope }: LineFacts,
  { rest }: SplitHeaders,
  json: JsonObject | undefined,
): Match {
  if (json === undefined) return { bypass: 'the body is not a JSON object' };
  const { path, query, batcher, configured: isConfigured } = target;
  const settings = scope.settings(batcher.info.name);
  const { lane } = scope.policy;
  return batcher.match({ query, path, headers: rest, body, json, settings, lane, isConfigured });
}

function isChosen(
  { scope, target }: CapturedCall,
  match: Pick<Route, 'endpoint' | 'model'>,
): boolean {
  if (scope.only === undefined) return true;
  const [root] = target.wireBase.split('?');
  const url = `${root}${target.path}`;
  return scope.only({ ...factsOf(target.batcher, match), url });
}
