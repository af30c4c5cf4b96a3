import { describedProvider, onlineRoutes } from '../openai-like/provider.ts';
import { batchRoutes } from '../openai-like/routes.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createSferenceBatches } from './batches.ts';
import { sferenceDescription } from './description.ts';
import { notFound, unauthorized } from './errors.ts';

export function createSference(world: World): Provider {
  const batches = createSferenceBatches(world);
  const provider = describedProvider(sferenceDescription, batches, [
    ...batchRoutes('/v1/batches', batches),
    ['GET', '/v1/batches/:id/results', batches.results],
    ['GET', '/v1/batches/:id/results.jsonl', batches.resultLines],
    ...onlineRoutes(world, sferenceDescription),
  ]);
  return { ...provider, notFound, unauthorized };
}
