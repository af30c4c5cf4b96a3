import { createFiles } from '../openai-like/files/files.ts';
import { describedProvider, onlineRoutes } from '../openai-like/provider.ts';
import { fileRoutes } from '../openai-like/routes.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createXaiBatches } from './batches.ts';
import { xaiDescription } from './description.ts';
import { notFound, unauthorized } from './errors.ts';

export function createXai(world: World): Provider {
  const files = createFiles(world, xaiDescription);
  const batches = createXaiBatches(world, files);
  const provider = describedProvider(xaiDescription, batches, [
    ...fileRoutes('/v1/files', files),
    ['POST', '/v1/batches', batches.create],
    ['GET', '/v1/batches', batches.list],
    ['GET', '/v1/batches/:id', batches.get],
    ['POST', '/v1/batches/:id', batches.cancel],
    ['GET', '/v1/batches/:id/results', batches.results],
    ...onlineRoutes(world, xaiDescription),
  ]);
  return { ...provider, notFound, unauthorized };
}
