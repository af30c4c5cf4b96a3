import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import { realtimeEndpoints } from './dialect.ts';
import { errorBody, notFound, unauthorized } from './errors.ts';
import { createFiles } from './files.ts';
import { answerRealtime } from './realtime.ts';

export function createOpenAI(world: World): Provider {
  const files = createFiles(world);
  const batches = createBatches(world, files);
  return {
    basePath: '/v1',
    barePaths: ['/v1'],
    scopeHeaders: ['openai-organization', 'openai-project'],
    requestIdHeader: 'x-request-id',
    errorBody,
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes: [
      ['POST', '/v1/files', files.upload],
      ['GET', '/v1/files', files.list],
      ['GET', '/v1/files/:id', files.get],
      ['DELETE', '/v1/files/:id', files.remove],
      ['GET', '/v1/files/:id/content', files.content],
      ['POST', '/v1/batches', batches.create],
      ['GET', '/v1/batches', batches.list],
      ['GET', '/v1/batches/:id', batches.get],
      ['POST', '/v1/batches/:id/cancel', batches.cancel],
      ...realtimeEndpoints.map(
        (endpoint) => ['POST', endpoint, answerRealtime(world, endpoint)] as const,
      ),
    ],
  };
}
