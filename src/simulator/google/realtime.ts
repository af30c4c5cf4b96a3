import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Outcome } from '../world/batches/batch.ts';
import { executeAtOnce, replyOf, withHeaders } from '../world/model/answer-at-once.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import type { World } from '../world/world.ts';
import { endpointOf, geminiDialect } from './dialect.ts';
import { streamReply } from './stream-chunks.ts';

const mostEmbeddings = 100;

/** Calls that are answered at once, at the full price. */
export function createRealtime(world: World) {
  const dialect = geminiDialect('google');

  const run = ({ account, headers }: Exchange, endpoint: string, body: JsonObject) =>
    executeAtOnce(world, dialect, { account, endpoint, body, headers });

  return {
    async generate(exchange: Exchange, model: string): Promise<Reply> {
      const endpoint = endpointOf(model, 'generateContent');
      const { outcome, headers } = await run(exchange, endpoint, await readJson(exchange.body));
      return withHeaders(replyOf(outcome), headers);
    },

    async stream(exchange: Exchange, model: string): Promise<Reply> {
      const endpoint = endpointOf(model, 'generateContent');
      const { outcome, headers } = await run(exchange, endpoint, await readJson(exchange.body));
      if (outcome.kind !== 'answered') return replyOf(outcome);
      const asEvents = exchange.query.get('alt') === 'sse';
      return withHeaders(streamReply(outcome.body as JsonObject, asEvents), headers);
    },

    async embed(exchange: Exchange, model: string): Promise<Reply> {
      const endpoint = endpointOf(model, 'embedContent');
      const { outcome } = await run(exchange, endpoint, await readJson(exchange.body));
      return outcome.kind === 'answered' ? jsonReply(embeddingIn(outcome)) : replyOf(outcome);
    },

    /** Several embeddings at once; not a batch. */
    async embedMany(exchange: Exchange, model: string): Promise<Reply> {
      const { requests } = await readJson(exchange.body);
      if (!Array.isArray(requests) || requests.length === 0 || requests.length > mostEmbeddings) {
        throw new Refusal(400, `* BatchEmbedContentsRequest.requests: 1 to ${mostEmbeddings}`);
      }
      const embeddings: unknown[] = [];
      for (const request of requests) {
        const endpoint = endpointOf(model, 'embedContent');
        const { outcome } = await run(exchange, endpoint, isObject(request) ? request : {});
        if (outcome.kind !== 'answered') return replyOf(outcome);
        embeddings.push(embeddingIn(outcome).embedding);
      }
      return jsonReply({ embeddings });
    },

    async countTokens({ body }: Exchange): Promise<Reply> {
      const { contents } = await readJson(body);
      return jsonReply({ totalTokens: estimateTokens(contents) });
    },
  };
}

function embeddingIn({ body }: Extract<Outcome, { kind: 'answered' }>) {
  return { embedding: (body as JsonObject).embedding };
}
