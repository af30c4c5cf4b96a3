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
import { execute } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import type { Publisher } from './details.ts';
import { dialectOf } from './dialect.ts';

/** Calls that are answered at once, at the full price. */
export function createRealtime(world: World) {
  async function run(exchange: Exchange, publisher: Publisher, body: JsonObject): Promise<Outcome> {
    const { account, path } = exchange;
    const endpoint = decodeURIComponent(path);
    const job = { account, batchId: null, customId: null, endpoint, body, foreign: false };
    return (await execute(world, dialectOf(publisher, 'realtime'), job)).outcome;
  }

  return {
    async generate(exchange: Exchange): Promise<Reply> {
      return replyOf(await run(exchange, 'google', await readJson(exchange.body)), false);
    },

    async stream(exchange: Exchange): Promise<Reply> {
      const outcome = await run(exchange, 'google', await readJson(exchange.body));
      if (outcome.kind !== 'answered') return replyOf(outcome, false);
      return streamReply(outcome.body as JsonObject, exchange.query.get('alt') === 'sse');
    },

    async predict(exchange: Exchange): Promise<Reply> {
      const { stream, ...body } = await readJson(exchange.body);
      const outcome = await run(exchange, 'anthropic', body);
      if (outcome.kind !== 'answered' || stream !== true) return replyOf(outcome, true);
      return eventStreamReply(streamMessage(outcome.body as JsonObject));
    },
  };
}

function replyOf(outcome: Outcome, isClaude: boolean): Reply {
  switch (outcome.kind) {
    case 'answered':
      return jsonReply(outcome.body);
    case 'empty':
      return jsonReply({});
    case 'refused': {
      if (outcome.body !== undefined) return jsonReply(outcome.body, outcome.status);
      // Over HTTP there is no status 0; what comes closest is an error of the server.
      const refusal = new Refusal(outcome.status < 200 ? 500 : outcome.status, outcome.message);
      if (!isClaude) throw refusal;
      return jsonReply(claudeErrorBody(refusal, 'req_vertex'), refusal.status);
    }
    default:
      throw new Refusal(500, outcome.kind);
  }
}
