import type { Batcher, Route } from '../../batchers/batcher.ts';
import type { CapturedCall, Policy } from '../model/call.ts';
import { offeredWindow } from '../queue/queue-terms.ts';

/** No model, base or header that a provider knows is as long. */
const mostCharacters = 2_000;

/** Control characters, and halves of surrogate pairs: not every ledger can store them. */
const unstorable = /[\p{Cc}\p{Cs}]/u;

/** Why a call that could be batched is answered with an error instead; `undefined`: it is not. */
export function callRefusal(call: CapturedCall, routes: readonly Route[]): string | undefined {
  for (const route of routes) {
    const refusal = textRefusal(call, route) ?? windowRefusal(call, route);
    if (refusal !== undefined) return refusal;
  }
  return deadlineRefusal(call);
}

/**
 * Why a call cannot have a row in the ledger. It is refused by itself, before it shares a transaction with
 * the calls of others.
 */
export function textRefusal({ target }: CapturedCall, route: Route): string | undefined {
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

/** A deadline whose cancel loses finished answers: to send those again would pay for them twice. */
function deadlineRefusal({ target, scope }: CapturedCall): string | undefined {
  const { name, cancelLosesWork } = target.batcher.info;
  if (!cancelLosesWork || scope.deadline === undefined || scope.onDeadline === 'error') {
    return undefined;
  }
  if (scope.settings(name).cancelAtDeadline === true) return undefined;
  return (
    `onDeadline "realtime" would pay twice at ${name}: cancelling a batch there loses the answers ` +
    `that are finished. Use onDeadline "error", leave the deadline out, or accept it with ` +
    `providers: { ${name}: { cancelAtDeadline: true } }.`
  );
}
