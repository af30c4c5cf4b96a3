import { type Exchange, eventStreamReply, type Reply, readJson } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { executeAtOnce, replyOf } from '../world/model/answer-at-once.ts';
import type { World } from '../world/world.ts';
import { realtimeDialect } from './dialect.ts';
import { demandVersion } from './errors.ts';
import { streamMessage } from './stream-message.ts';

/** Answers `POST /v1/messages` at once, at the full price. */
export function answerMessage(world: World) {
  return async (exchange: Exchange): Promise<Reply> => {
    const dialect = realtimeDialect(demandVersion(exchange));
    const { account, headers } = exchange;
    const body = await readJson(exchange.body);
    const call = { account, endpoint: '/v1/messages', body, headers };
    const executed = await executeAtOnce(world, dialect, call);
    const { outcome, spoiled } = executed;
    if (spoiled === 'broken') return { status: 200, body: '{"id":"broken","con' };
    if (outcome.kind !== 'answered' || body.stream !== true) return replyOf(outcome);
    return eventStreamReply(streamMessage(outcome.body as JsonObject));
  };
}
