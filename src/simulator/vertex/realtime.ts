import { errorBody as claudeErrorBody } from '../anthropic/errors.ts';
import { streamMessage } from '../anthropic/stream-message.ts';
import { streamReply } from '../google/stream-chunks.ts';
import {
  type Exchange,
  eventStreamReply,
  jsonReply,
  Refusal,
  type Reply,
  readJson,
} from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { executeAtOnce, replyOf, statusOf } from '../world/model/answer-at-once.ts';
import type { World } from '../world/world.ts';
import type { Publisher } from './details.ts';
import { dialectOf } from './dialect.ts';

/** Calls that are answered at once, at the full price. */
export function createRealtime(world: World) {
  async function run(exchange: Exchange, publisher: Publisher, body: JsonObject): Promise<Outcome> {
    const { account, path, headers } = exchange;
    const endpoint = decodeURIComponent(path);
    const dialect = dialectOf(publisher, 'realtime');
    return (await executeAtOnce(world, dialect, { account, endpoint, body, headers })).outcome;
  }

  return {
    async generate(exchange: Exchange): Promise<Reply> {
      return replyOf(await run(exchange, 'google', await readJson(exchange.body)));
    },

    async stream(exchange: Exchange): Promise<Reply> {
      const outcome = await run(exchange, 'google', await readJson(exchange.body));
      if (outcome.kind !== 'answered') return replyOf(outcome);
      return streamReply(outcome.body as JsonObject, exchange.query.get('alt') === 'sse');
    },

    async predict(exchange: Exchange): Promise<Reply> {
      const { stream, ...body } = await readJson(exchange.body);
      const outcome = await run(exchange, 'anthropic', body);
      if (outcome.kind !== 'answered' || stream !== true) return claudeReply(outcome);
      return eventStreamReply(streamMessage(outcome.body as JsonObject));
    },
  };
}

/** Claude's errors have the shape of Anthropic's own API. */
function claudeReply(outcome: Outcome): Reply {
  if (outcome.kind !== 'refused' || outcome.body !== undefined) return replyOf(outcome);
  const refusal = new Refusal(statusOf(outcome.status), outcome.message);
  return jsonReply(claudeErrorBody(refusal, 'req_vertex'), refusal.status);
}
