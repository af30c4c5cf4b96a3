import { type Exchange, eventStreamReply, jsonReply, type Reply } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { executeAtOnce, statusOf, withHeaders } from '../world/model/answer-at-once.ts';
import type { Dialect } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import { refusalBody } from './batches/result-line.ts';
import type { OpenAILike } from './description.ts';
import { realtimeDialect } from './dialect.ts';
import { readBody } from './read-form.ts';
import { type Stream, streams } from './streams/streams.ts';

/** What a provider reads and says at once in another way than OpenAI. */
interface OwnWays {
  dialect?: Dialect;
  stream?: Stream;
  read?(exchange: Exchange): Promise<JsonObject>;
}

/** Answers an endpoint at once, at the full price. */
export function answerRealtime(
  world: World,
  like: OpenAILike,
  endpoint: string,
  own: OwnWays = {},
) {
  const { dialect = realtimeDialect(like), stream = streams[endpoint], read = readBody } = own;
  const refuse = (message: string, status: number, details = {}) =>
    jsonReply(refusalBody(like, { ...details, kind: 'refused', status, message }), status);
  return async (exchange: Exchange): Promise<Reply> => {
    const body = await read(exchange);
    const { account, headers } = exchange;
    const executed = await executeAtOnce(world, dialect, { account, endpoint, body, headers });
    const { outcome, spoiled } = executed;
    if (spoiled === 'broken') return { status: 200, body: '{"id":"broken","cho' };
    switch (outcome.kind) {
      case 'answered':
        if (body.stream !== true || stream === undefined) return jsonReply(outcome.body);
        return eventStreamReply(stream(outcome.body as JsonObject, body));
      case 'empty':
        return jsonReply({});
      case 'refused':
        return withHeaders(
          refuse(outcome.message, statusOf(outcome.status), outcome),
          executed.headers,
        );
      default:
        return refuse(outcome.kind, 500);
    }
  };
}
