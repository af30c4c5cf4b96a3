import { refusalBody } from '../openai-like/batches/result-line.ts';
import {
  type Exchange,
  eventStreamReply,
  jsonReply,
  type Reply,
  readJson,
} from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import type { Refused } from '../world/batches/batch.ts';
import { execute } from '../world/model/execute.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import { realtimeDialect } from './dialect.ts';
import { streamCompletion } from './stream-completion.ts';

/** Answers an endpoint at once, at the full price. */
export function answerRealtime(world: World, endpoint: string) {
  return async ({ account, body: bytes }: Exchange): Promise<Reply> => {
    const body = await readJson(bytes);
    const job = { account, batchId: null, customId: null, endpoint, body, foreign: false };
    const { outcome, spoiled } = await execute(world, realtimeDialect, job);
    if (spoiled === 'broken') return { status: 200, body: '{"id":"broken","cho' };
    switch (outcome.kind) {
      case 'answered':
        if (body.stream !== true) return jsonReply(outcome.body);
        return eventStreamReply(streamCompletion(outcome.body as JsonObject));
      case 'empty':
        return jsonReply({});
      case 'refused':
        return refusal({ ...outcome, status: outcome.status < 200 ? 500 : outcome.status });
      default:
        return refusal({ kind: 'refused', status: 500, message: outcome.kind });
    }
  };
}

function refusal(outcome: Refused): Reply {
  return jsonReply(refusalBody(mistralDescription, outcome), outcome.status);
}
