import {
  type Exchange,
  eventStreamReply,
  jsonReply,
  Refusal,
  type Reply,
  readJson,
} from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { execute } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import { realtimeDialect } from './dialect.ts';
import { demandVersion } from './errors.ts';
import { streamMessage } from './stream-message.ts';

/** Answers `POST /v1/messages` at once, at the full price. */
export function answerMessage(world: World) {
  return async (exchange: Exchange): Promise<Reply> => {
    const dialect = realtimeDialect(demandVersion(exchange));
    const { account } = exchange;
    const body = await readJson(exchange.body);
    const endpoint = '/v1/messages';
    const job = { account, batchId: null, customId: null, endpoint, body, foreign: false };
    const { outcome, spoiled } = await execute(world, dialect, job);
    if (spoiled === 'broken') return { status: 200, body: '{"id":"broken","con' };
    switch (outcome.kind) {
      case 'answered':
        if (body.stream !== true) return jsonReply(outcome.body);
        return eventStreamReply(streamMessage(outcome.body as JsonObject));
      case 'empty':
        return jsonReply({});
      case 'refused':
        if (outcome.body !== undefined) return jsonReply(outcome.body, outcome.status);
        // Over HTTP there is no status 0; what comes closest is an error of the server.
        throw new Refusal(outcome.status < 200 ? 500 : outcome.status, outcome.message);
      default:
        throw new Refusal(500, outcome.kind);
    }
  };
}
