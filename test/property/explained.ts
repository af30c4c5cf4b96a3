import type { AskedCall } from './asked-call.ts';
import type { Provider, Step } from './program.ts';
import type { Theatre } from './theatre.ts';
import { keyOf } from './verdict.ts';

/** Whether something the program did is the reason for how this call ended. */
export function isExplained(call: AskedCall, theatre: Theatre): boolean {
  const { ending } = call;
  if (ending === undefined) return false;
  if (ending.kind === 'rejected') {
    const { reason } = ending;
    if (reason === call.controller.signal.reason && reason !== undefined) return true;
    if (reason === call.scope.controller.signal.reason && reason !== undefined) return true;
    return mayGoOut(call, theatre) && hits(theatre, 'realtime', call) > 0;
  }
  const isSent = mayGoOut(call, theatre) || seemsWithoutBatches(call, theatre);
  if (ending.source === 'realtime' && !isSent) return false;
  if (ending.source === 'plain') return false;
  if (ending.status === 200) return true;
  // A client that asks again at once gets the same error again, so any call of its kind may do.
  return theatre.calls
    .filter((other) => keyOf(other) === keyOf(call))
    .some((other) => reasons(other, theatre).has(nameOf(ending.status, ending.body)));
}

/** A server that does not know the place of its batches has no batch API: its calls are sent one by one. */
export function seemsWithoutBatches(
  { provider }: Pick<AskedCall, 'provider'>,
  { faults }: Pick<Theatre, 'faults'>,
): boolean {
  return faults.some(
    ({ action, place, struck }) =>
      struck.hits > 0 &&
      place.provider === provider &&
      action.kind === 'status' &&
      action.status === 404,
  );
}

/** What may go out as an ordinary call; so may what its client asks again at once. */
function mayGoOut(call: AskedCall, { calls }: Theatre): boolean {
  return calls.some(
    (other) =>
      keyOf(other) === keyOf(call) &&
      ((other.plan.minBatch ?? 1) > 1 || other.plan.onDeadline === 'realtime'),
  );
}

function nameOf(status: number, body: string): string {
  return /"(batchling_\w+)"/.exec(body)?.[1] ?? String(status);
}

function reasons(call: AskedCall, theatre: Theatre): Set<string> {
  const found = new Set<string>();
  const { prompt, plan, scope, provider } = call;
  const status = /status (\d+)\]\]/.exec(prompt)?.[1];
  if (status) found.add(status);
  if (/missing|broken|empty/.test(prompt)) found.add('batchling_missing');
  if (prompt.includes('expired')) found.add('batchling_expired').add('500');
  if (prompt.includes('canceled')) found.add('batchling_cancelled').add('500');
  if (scope.cancelled || theatre.strangerCancelled) found.add('batchling_cancelled');
  if (plan.deadline !== undefined) found.add('batchling_deadline');
  for (const { action, place, struck } of theatre.faults) {
    if (struck.hits > 0 && place.provider === provider && action.kind === 'status') {
      found.add(String(action.status));
    }
  }
  // An ordinary call that brings no answer, in any attempt.
  if (seemsWithoutBatches(call, theatre) && hits(theatre, 'realtime', call) > 0) {
    found.add('batchling_missing');
  }
  for (const step of theatre.program.steps)
    for (const name of stepReasons(step, provider)) found.add(name);
  return found;
}

function stepReasons(step: Step, provider: Provider): string[] {
  // The limit of requests per batch is checked by Anthropic's create, which then fails as a whole.
  if (step.do === 'configure') {
    const limited = step.change.limits?.anthropic?.requestsPerBatch !== undefined;
    return limited && provider === 'anthropic' ? ['400'] : [];
  }
  if (step.do !== 'script') return [];
  const { outcome, stuckIn } = step.script;
  if (outcome === 'failed') return [provider === 'openai' ? '400' : '500'];
  if (outcome === 'expired' || stuckIn) return ['batchling_expired'];
  return outcome === 'cancelled' ? ['batchling_cancelled'] : [];
}

/** How often a fault of this place struck the provider of a call. */
export function hits({ faults }: Theatre, place: string, { provider }: AskedCall): number {
  return faults
    .filter((fault) => fault.place.name === place && fault.place.provider === provider)
    .reduce((sum, { struck }) => sum + struck.hits, 0);
}
