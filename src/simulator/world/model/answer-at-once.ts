import { jsonReply, Refusal, type Reply } from '../../server/exchange.ts';
import { isObject } from '../../server/json.ts';
import type { Outcome, Refused } from '../batches/batch.ts';
import { type OrdinaryCall, standardTier } from '../tiers/tier-rules.ts';
import type { Admission } from '../tiers/tiers.ts';
import type { World } from '../world.ts';
import { type Dialect, type Executed, execute } from './execute.ts';
import { modelOf } from './model-of.ts';

/** Lets the simulated model work on a call that stands in no batch, in the tier that it asks for. */
export async function executeAtOnce(
  world: World,
  dialect: Dialect,
  call: OrdinaryCall,
): Promise<Executed> {
  const { account, endpoint, body } = call;
  const leave = world.meter.enter(account);
  try {
    const admission = admit(world, dialect, call);
    if ('kind' in admission) return refuse(world, dialect, call, admission);
    const { delay, tier, isTold } = admission;
    // A client that leaves meanwhile does not stop it: it is executed, and billed.
    if (delay > 0) await world.clock.sleep(delay);
    const job = { account, batchId: null, customId: null, endpoint, body, tier, foreign: false };
    const executed = await execute(world, dialect, job);
    return tellTier(dialect, executed, isTold ? tier : null);
  } finally {
    leave();
  }
}

function admit(
  { tiers, settings, clock }: World,
  dialect: Dialect,
  call: OrdinaryCall,
): Admission | Refused {
  const { tiers: rules, provider } = dialect;
  if (rules === undefined) return { delay: 0, tier: standardTier, isTold: false };
  return tiers.admit(rules, call, modelOf(dialect, call), settings.flex[provider], clock.now());
}

function refuse(world: World, dialect: Dialect, call: OrdinaryCall, refused: Refused): Executed {
  const { status, code = null, headers } = refused;
  const { provider } = dialect;
  const model = modelOf(dialect, call);
  const at = world.clock.now();
  world.meter.refusals.push({ provider, key: call.account, model, status, code, at });
  const nothing = { spoiled: null, inputTokens: 0, outputTokens: 0, isGiven: false };
  return { outcome: refused, ...nothing, ...(headers && { headers }) };
}

function tellTier({ tiers }: Dialect, executed: Executed, tier: string | null): Executed {
  const { outcome } = executed;
  if (tiers === undefined || outcome.kind !== 'answered' || executed.isGiven) return executed;
  if (!isObject(outcome.body)) return executed;
  const { body, headers } = tiers.tell(outcome.body, tier);
  return { ...executed, outcome: { kind: 'answered', body }, ...(headers && { headers }) };
}

/** The reply to such a call. Errors are thrown: the provider gives them its shape. */
export function replyOf(outcome: Outcome): Reply {
  switch (outcome.kind) {
    case 'answered':
      return jsonReply(outcome.body);
    case 'empty':
      return jsonReply({});
    case 'refused': {
      const { status, message, body, code, headers } = outcome;
      if (body !== undefined) return jsonReply(body, status);
      const details = { ...(code !== undefined && { code }), ...(headers && { headers }) };
      throw new Refusal(statusOf(status), message, details);
    }
    default:
      throw new Refusal(500, outcome.kind);
  }
}

/** Over HTTP there is no status 0; an error of the server comes closest. */
export function statusOf(status: number): number {
  return status < 200 ? 500 : status;
}

export function withHeaders(reply: Reply, headers: Record<string, string> = {}): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}
