import type { Batcher, Route } from '../batchers/batcher.ts';
import { parseDuration } from '../duration.ts';
import { type SplitHeaders, splitHeaders } from './account.ts';
import { ownAnswer } from './answers.ts';
import { publish } from './events.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { CapturedCall, Policy } from './pending.ts';

/** A call that can be batched: parsed, routed and hashed. */
export interface Prepared {
  readonly call: CapturedCall;
  readonly route: Route;
  readonly headers: SplitHeaders;
  readonly fingerprint: Buffer;
}

/** A predicate or a batcher of the user's may throw: that is its own call's trouble. */
export function prepare(call: CapturedCall): Prepared | undefined {
  try {
    return prepareUnsafely(call);
  } catch (error) {
    call.fail(error);
    return undefined;
  }
}

function prepareUnsafely(call: CapturedCall): Prepared | undefined {
  const { batcher, base, path, query, configured } = call.target;
  const json = parseObject(call.body);
  if (json === undefined) {
    call.settle({ bypass: 'the body is not a JSON object' });
    return undefined;
  }
  const headers = splitHeaders(call.headers, batcher.info, configured);
  const match = batcher.match({
    query,
    path,
    headers: headers.rest,
    body: call.body,
    json,
  });
  if ('bypass' in match) {
    call.settle(match);
    return undefined;
  }
  const { only } = call.scope;
  const facts = { provider: batcher.info.name, endpoint: match.endpoint, model: match.model };
  if (only && !only({ ...facts, url: `${call.target.wireBase}${path}` })) {
    call.settle({ passThrough: true });
    return undefined;
  }
  publish('call:captured', facts);
  call.scope.emit('call:captured', facts);
  const refusal = windowRefusal(call, match) ?? deadlineRefusal(call);
  if (refusal !== undefined) {
    call.settle({
      answer: ownAnswer(batcher, 'unsupported', refusal),
      source: 'batch',
      itemId: '',
    });
    return undefined;
  }
  const route =
    headers.extra.length > 0
      ? { ...match, identity: [...match.identity, ...headers.extra] }
      : match;
  return { call, route, headers, fingerprint: fingerprintOf(batcher.info.name, base, route) };
}

/** The window that was found to be offered last: nearly every call asks for the same one. */
let offered: { batcher: Batcher; endpoint: string; policy: Policy } | undefined;

/** A completion window the provider does not offer is a clear error, not a silent other one. */
function windowRefusal(call: CapturedCall, { endpoint }: Route): string | undefined {
  const { batcher } = call.target;
  const { policy } = call.scope;
  if (offered?.policy === policy && offered.batcher === batcher && offered.endpoint === endpoint) {
    return undefined;
  }
  const { windows } = batcher.limits(endpoint);
  if (windows.some((window) => parseDuration(window) === policy.completionWindow)) {
    offered = { batcher, endpoint, policy };
    return undefined;
  }
  return (
    `completionWindow is not one that ${batcher.info.name} offers (${windows.join(', ')}). ` +
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
