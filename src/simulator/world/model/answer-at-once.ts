import { jsonReply, Refusal, type Reply } from '../../server/exchange.ts';
import type { JsonObject } from '../../server/json.ts';
import type { Outcome } from '../batches/batch.ts';
import type { World } from '../world.ts';
import { type Dialect, type Executed, execute } from './execute.ts';

/** Lets the simulated model work on a call that stands in no batch. */
export function executeAtOnce(
  world: World,
  dialect: Dialect,
  account: string,
  endpoint: string,
  body: JsonObject,
): Executed | Promise<Executed> {
  const job = { account, batchId: null, customId: null, endpoint, body, foreign: false };
  return execute(world, dialect, job);
}

/** The reply to such a call. Errors are thrown: the provider gives them its shape. */
export function replyOf(outcome: Outcome): Reply {
  switch (outcome.kind) {
    case 'answered':
      return jsonReply(outcome.body);
    case 'empty':
      return jsonReply({});
    case 'refused':
      if (outcome.body !== undefined) return jsonReply(outcome.body, outcome.status);
      throw new Refusal(statusOf(outcome.status), outcome.message);
    default:
      throw new Refusal(500, outcome.kind);
  }
}

/** Over HTTP there is no status 0; an error of the server comes closest. */
export function statusOf(status: number): number {
  return status < 200 ? 500 : status;
}
