import { streamMessage } from '../anthropic/stream-message.ts';
import { type BatchKind, createBatches } from '../openai-like/batches/batches.ts';
import { describedProvider, onlineRoutes } from '../openai-like/provider.ts';
import { answerRealtime } from '../openai-like/realtime.ts';
import { type Exchange, jsonReply, type Reply, readJson } from '../server/exchange.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { batchObject, wholeBatch } from './batch-object.ts';
import { createWire, type OpenRouterBatch } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { openrouterDescription } from './description.ts';
import { messagesEndpoint, onlineDialect } from './dialect.ts';
import { errorBody } from './errors.ts';

const largestBody = 200_000_000;
const mostRequests = 50_000;
const batchesPath = '/api/beta/batches';

/** OpenRouter. Batches cannot be cancelled: there is no such path. */
export function createOpenRouter(world: World): Provider {
  const batches = createBatches(world, openrouterDescription, openrouterKind(world));
  const get = ({ account }: Exchange, id: string): Reply =>
    jsonReply(wholeBatch(world, batches.demand(id, account)));
  const messages = answerRealtime(
    world,
    { ...openrouterDescription, errorBody: (refusal) => errorBody(refusal, '/messages') },
    messagesEndpoint,
    { dialect: onlineDialect, stream: streamMessage },
  );
  const provider = describedProvider(openrouterDescription, batches, [
    ['POST', batchesPath, batches.create],
    ['GET', batchesPath, batches.list],
    ['GET', `${batchesPath}/:id`, get],
    ['POST', '/api/v1/messages', messages],
    ...onlineRoutes(world, openrouterDescription),
  ]);
  return { ...provider, keyHeaders: ['x-api-key'], createPath: batchesPath };
}

function openrouterKind(world: World): BatchKind<OpenRouterBatch> {
  return {
    wire: () => createWire(world),
    async read({ body }) {
      const { limits, models } = world.settings;
      const { bytesPerBatch = largestBody, requestsPerBatch = mostRequests } =
        limits.openrouter ?? {};
      return checkCreate(await readJson(body, bytesPerBatch), requestsPerBatch, models);
    },
    sizeOf: ({ count }) => count,
    countsAtOnce: true,
    foreign: (_account, size) => strangersBatch(size),
    show: (batch) => batchObject(world, batch),
    unknown: (id) => `Batch job ${id} not found.`,
  };
}

function strangersBatch(count: number): OpenRouterBatch {
  const endpoint = '/v1/chat/completions';
  const model = 'stranger/model';
  const requests = strangersRequests(count, (customId, content) => {
    return { customId, endpoint, body: { model, messages: [{ role: 'user', content }] } };
  });
  return { endpoint, model, count, requests, results: null };
}
