import { answerRealtime } from '../openai-like/realtime.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import { sferenceDescription } from './description.ts';
import { errorBody, notFound, unauthorized } from './errors.ts';

export function createSference(world: World): Provider {
  const batches = createBatches(world);
  return {
    basePath: '/v1',
    barePaths: [],
    keyHeaders: [],
    scopeHeaders: [],
    requestIdHeader: 'x-request-id',
    createPath: '/v1/batches',
    errorBody,
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes: [
      ['POST', '/v1/batches', batches.create],
      ['GET', '/v1/batches', batches.list],
      ['GET', '/v1/batches/:id', batches.get],
      ['POST', '/v1/batches/:id/cancel', batches.cancel],
      ['GET', '/v1/batches/:id/results', batches.results],
      ['GET', '/v1/batches/:id/results.jsonl', batches.resultLines],
      ...sferenceDescription.endpoints.map(
        (endpoint) =>
          ['POST', endpoint, answerRealtime(world, sferenceDescription, endpoint)] as const,
      ),
    ],
  };
}
