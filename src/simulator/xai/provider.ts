import { createFiles } from '../openai-like/files/files.ts';
import { answerRealtime } from '../openai-like/realtime.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import { xaiDescription } from './description.ts';
import { errorBody, notFound, unauthorized } from './errors.ts';

export function createXai(world: World): Provider {
  const files = createFiles(world, xaiDescription);
  const batches = createBatches(world, files);
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
      ['POST', '/v1/files', files.upload],
      ['GET', '/v1/files', files.list],
      ['GET', '/v1/files/:id', files.get],
      ['DELETE', '/v1/files/:id', files.remove],
      ['GET', '/v1/files/:id/content', files.content],
      ['POST', '/v1/batches', batches.create],
      ['GET', '/v1/batches', batches.list],
      ['GET', '/v1/batches/:id', batches.get],
      ['POST', '/v1/batches/:id', batches.cancel],
      ['GET', '/v1/batches/:id/results', batches.results],
      ...xaiDescription.endpoints.map(
        (endpoint) => ['POST', endpoint, answerRealtime(world, xaiDescription, endpoint)] as const,
      ),
    ],
  };
}
