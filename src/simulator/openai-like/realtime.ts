import { type Exchange, eventStreamReply, jsonReply, type Reply } from '../server/exchange.ts';
import { execute } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import { refusalBody } from './batches/result-line.ts';
import type { OpenAILike } from './description.ts';
import { realtimeDialect } from './dialect.ts';
import { readBody } from './read-form.ts';
import { streams } from './streams/streams.ts';

/** Answers an endpoint at once, at the full price. */
export function answerRealtime(world: World, like: OpenAILike, endpoint: string) {
  const dialect = realtimeDialect(like.name);
  return async (exchange: Exchange): Promise<Reply> => {
    const { account } = exchange;
    const body = await readBody(exchange);
    const job = { account, batchId: null, customId: null, endpoint, body, foreign: false };
    const { outcome, spoiled } = await execute(world, dialect, job);
    if (spoiled === 'broken') return { status: 200, body: '{"id":"broken","cho' };
    switch (outcome.kind) {
      case 'answered': {
        const stream = body.stream === true ? streams[endpoint] : undefined;
        if (stream === undefined) return jsonReply(outcome.body);
        return eventStreamReply(stream(outcome.body as Record<string, unknown>, body));
      }
      case 'empty':
        return jsonReply({});
      case 'refused': {
        // Over HTTP there is no status 0; what comes closest is an error of the server.
        const status = outcome.status < 200 ? 500 : outcome.status;
        return jsonReply(refusalBody(like, { ...outcome, status }), status);
      }
      default:
        return jsonReply(
          refusalBody(like, { kind: 'refused', status: 500, message: outcome.kind }),
          500,
        );
    }
  };
}
