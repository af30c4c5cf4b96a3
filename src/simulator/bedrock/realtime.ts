import { streamMessage } from '../anthropic/stream-message.ts';
import { type Exchange, type Reply, readJson } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { executeAtOnce, replyOf } from '../world/model/answer-at-once.ts';
import type { World } from '../world/world.ts';
import { converseEvents } from './converse.ts';
import { dialectOf } from './dialect.ts';
import { refusal } from './errors.ts';
import { framesReply } from './frames.ts';

/** Calls that are answered at once, at the full price. */
export function createRealtime(world: World) {
  async function run({ account, path, headers, body }: Exchange): Promise<Outcome> {
    const endpoint = decodeURIComponent(path);
    const given = await readJson(body);
    const dialect = dialectOf(endpoint, 'realtime');
    const { outcome } = await executeAtOnce(world, dialect, {
      account,
      endpoint,
      body: given,
      headers,
    });
    if (outcome.kind !== 'refused' || outcome.body !== undefined) return outcome;
    throw refusal(outcome.status < 200 ? 500 : outcome.status, outcome.message);
  }

  return {
    answer: async (exchange: Exchange): Promise<Reply> => replyOf(await run(exchange)),

    async converseStream(exchange: Exchange): Promise<Reply> {
      const outcome = await run(exchange);
      if (outcome.kind !== 'answered') return replyOf(outcome);
      return framesReply(converseEvents(outcome.body as JsonObject));
    },

    async invokeStream(exchange: Exchange): Promise<Reply> {
      const outcome = await run(exchange);
      if (outcome.kind !== 'answered') return replyOf(outcome);
      const events = streamMessage(outcome.body as JsonObject)
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => Buffer.from(line.slice('data: '.length)).toString('base64'));
      return framesReply(events.map((bytes) => ['chunk', { bytes }] as const));
    },
  };
}
