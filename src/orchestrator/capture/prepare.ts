import { messageOf } from '../../base/errors.ts';
import type { Expectation, FanOut, Match, Route } from '../../batchers/batcher.ts';
import { refuseCall } from '../answer/delivery.ts';
import type { OwnReason } from '../answer/own-answer.ts';
import { factsOf, tell } from '../events/events.ts';
import type { CapturedCall } from '../model/call.ts';
import { callRefusal, textRefusal } from './call-refusal.ts';
import { type CredentialFunction, type SplitHeaders, splitHeaders } from './credentials.ts';
import { fingerprintOf } from './fingerprint.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** One request of a call. */
export interface Part {
  readonly route: Route;
  readonly fingerprint: Buffer;
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
 * @param leaveOut - what happens to a call that `only` does not choose; in a dry run it must not go out.
 */
export function prepare(
  call: CapturedCall,
  leaveOut: (name: string, ready: () => Prepared) => void = (leftOut) => call.settle({ leftOut }),
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
    const routes = routesOf(match);
    const [first, ...others] = routes;
    if (first === undefined) {
      turnAway(call, 'unsupported', 'The call cannot be batched: it asks for nothing.');
      return undefined;
    }
    const part = (route: Route) => partOf(call, route, headers.extra, json ?? {});
    const join = 'parts' in match ? match.join.bind(match) : undefined;
    const ready = (): Prepared => ({ headers, parts: [part(first), ...others.map(part)], join });
    if (!routes.every((route) => isChosen(call, route))) {
      leaveOut(nameOf(call, first), ready);
      return undefined;
    }
    const refusal = callRefusal(call, routes);
    if (refusal !== undefined) {
      turnAway(call, 'unsupported', refusal);
      return undefined;
    }
    tell(call.scope.emit, 'call:captured', factsOf(call.target.batcher, first));
    return ready();
  } catch (error) {
    // A predicate or a batcher of the user's may throw: that is its own call's trouble. It goes
    // nowhere: nobody has said that it may be paid for.
    turnAway(call, 'unsupported', `The call cannot be batched: ${messageOf(error)}`);
    return undefined;
  }
}

/** `openai:gpt-5-mini` */
function nameOf({ target }: CapturedCall, { model }: Pick<Route, 'model'>): string {
  return `${target.provider}:${model}`;
}

function routesOf(match: Route | FanOut): readonly Route[] {
  return 'parts' in match ? match.parts : [match];
}

function partOf(
  { target }: CapturedCall,
  match: Route,
  extra: readonly string[],
  json: JsonObject,
): Part {
  const { batcher, base } = target;
  const route = extra.length > 0 ? { ...match, identity: [...match.identity, ...extra] } : match;
  const expects = sharedExpectation(batcher.expects(route, json));
  return { route, fingerprint: fingerprintOf(batcher.info.name, base, route), expects };
}

let lastExpectation: Expectation = { outputLimit: undefined, answers: 1 };

/** Nearly all requests of a program expect the same: one object in memory serves them. */
function sharedExpectation(given: Expectation): Expectation {
  const last = lastExpectation;
  const isSame =
    last.outputLimit === given.outputLimit &&
    last.answers === given.answers &&
    last.cacheWriteTokens === given.cacheWriteTokens &&
    last.cacheWrite1hTokens === given.cacheWrite1hTokens;
  if (!isSame) lastExpectation = given;
  return isSame ? last : given;
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
    const match = matchOf(call, headersOf(call), parseObject(call.body));
    if ('bypass' in match) return unknown;
    if ('unconfigured' in match) return match;
    const [route] = routesOf(match);
    return route && textRefusal(call, route) === undefined ? route : unknown;
  } catch {
    return unknown;
  }
}

function headersOf({ headers, target, scope }: CapturedCall): SplitHeaders {
  const { info } = target.batcher;
  const { credential } = scope.settings(info.name);
  return splitHeaders(headers, info, target.configured, {
    query: target.credentials,
    credential: credential as CredentialFunction | undefined,
  });
}

function matchOf(
  { body, target, scope }: CapturedCall,
  { rest }: SplitHeaders,
  json: JsonObject | undefined,
): Match {
  if (json === undefined) return { bypass: 'the body is not a JSON object' };
  const { path, query, batcher } = target;
  const settings = scope.settings(batcher.info.name);
  return batcher.match({ query, path, headers: rest, body, json, settings });
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

/** The object that a body holds; `undefined` for anything else, JSON or not. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
