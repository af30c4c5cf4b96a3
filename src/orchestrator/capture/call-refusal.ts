import type { Batcher, FanOut, Route } from '../../batchers/batcher.ts';
import type { CapturedCall, Policy } from '../model/call.ts';
import { areSameHeaders, offeredWindow } from '../queue/queue-terms.ts';

/** No model, base or header that a provider knows is as long. */
const mostCharacters = 2_000;

/** Control characters, and halves of surrogate pairs: not every ledger can store them. */
const unstorable = /[\p{Cc}\p{Cs}]/u;

/** What was found to be fine last. Nearly every call asks for the same, and is not looked at again. */
let fine:
  | (Pick<Route, 'endpoint' | 'model' | 'partition' | 'batchHeaders'> & FineTerms)
  | undefined;

interface FineTerms {
  readonly batcher: Batcher;
  readonly policy: Policy;
  readonly base: string;
}

type Refusable = Pick<CapturedCall, 'target' | 'scope'>;

/** Why a call that could be batched is answered with an error instead; `undefined`: it is not. */
export function callRefusal(call: Refusable, match: Route | FanOut): string | undefined {
  if (!('parts' in match)) return routeRefusal(call, match) ?? deadlineRefusal(call);
  for (const route of match.parts) {
    const refusal = routeRefusal(call, route);
    if (refusal !== undefined) return refusal;
  }
  return deadlineRefusal(call);
}

function routeRefusal(call: Refusable, route: Route): string | undefined {
  if (isFine(call, route)) return undefined;
  const refusal = textRefusal(call, route) ?? windowRefusal(call, route);
  if (refusal !== undefined) return refusal;
  const { batcher, wireBase: base } = call.target;
  const { endpoint, model, partition, batchHeaders } = route;
  const { policy } = call.scope;
  fine = { batcher, policy, base, endpoint, model, batchHeaders, ...(partition && { partition }) };
  return undefined;
}

function isFine({ target, scope }: Refusable, route: Route): boolean {
  return (
    fine !== undefined &&
    fine.policy === scope.policy &&
    fine.batcher === target.batcher &&
    fine.base === target.wireBase &&
    fine.endpoint === route.endpoint &&
    fine.model === route.model &&
    fine.partition === route.partition &&
    areSameHeaders(fine.batchHeaders, route.batchHeaders)
  );
}

/**
 * Why a call cannot have a row in the ledger. It is refused by itself, before it shares a transaction with
 * the calls of others.
 */
export function textRefusal(
  { target }: Pick<CapturedCall, 'target'>,
  route: Route,
): string | undefined {
  const { endpoint, model, partition = '', batchHeaders } = route;
  const texts = { model, endpoint, base: target.wireBase, partition, ...batchHeaders };
  for (const [name, text] of Object.entries(texts)) {
    const why = reason(text);
    if (why) return `The call cannot be batched: its ${name} ${why}.`;
  }
  return undefined;
}

function reason(text: string): string | undefined {
  if (text.length > mostCharacters) {
    return `has ${text.length} characters, and the ledger takes at most ${mostCharacters}`;
  }
  return unstorable.test(text) ? 'has a control character or half a character' : undefined;
}

/** A completion window the provider does not offer is a clear error, not a silent other one. */
function windowRefusal(call: Refusable, route: Route): string | undefined {
  const { batcher } = call.target;
  const limits = batcher.limits(route);
  if (offeredWindow(limits, call.scope.policy.completionWindow)) return undefined;
  return (
    `completionWindow is not one that ${batcher.info.name} offers (${Object.keys(limits.windows).join(', ')}). ` +
    'Set the option completionWindow to one of these.'
  );
}

/** A deadline whose cancel loses finished answers: to send those again would pay for them twice. */
function deadlineRefusal({ target, scope }: Refusable): string | undefined {
  const { name, cancelLosesWork } = target.batcher.info;
  // The other lanes have nothing to cancel.
  const isCancelled = scope.policy.lane === 'batch' && scope.onDeadline !== 'error';
  if (!cancelLosesWork || scope.deadline === undefined || !isCancelled) {
    return undefined;
  }
  if (scope.settings(name).cancelAtDeadline === true) return undefined;
  return (
    `onDeadline "${scope.onDeadline}" would pay twice at ${name}: cancelling a batch there loses the answers ` +
    `that are finished. Use onDeadline "error", leave the deadline out, or accept it with ` +
    `providers: { ${name}: { cancelAtDeadline: true } }.`
  );
}
