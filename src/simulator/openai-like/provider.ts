import type { BatchStore } from '../world/batches/batch.ts';
import type { Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches/batches.ts';
import { openaiKind } from './batches/openai-kind.ts';
import type { OpenAILike } from './description.ts';
import { realtimeEndpoints } from './dialect.ts';
import { notFound, unauthorized } from './errors.ts';
import { createFiles } from './files/files.ts';
import { answerRealtime } from './realtime.ts';
import { batchRoutes, fileRoutes } from './routes.ts';

/** A provider with files and batches like OpenAI's. */
export function createOpenAILike(world: World, like: OpenAILike): Provider {
  const files = createFiles(world, like);
  const batches = createBatches(world, like, openaiKind(world, like, files));
  const named = like.endpoints.map((endpoint) => like.answersAs?.(endpoint) ?? endpoint);
  const served = realtimeEndpoints.filter((endpoint) => named.includes(endpoint));
  return describedProvider(like, batches, [
    ...(like.moreRoutes?.({ world, like, files, batches }) ?? []),
    ...fileRoutes(`${like.root}${like.filesPath}`, files),
    ...batchRoutes(`${like.root}${like.batchesPath}`, batches),
    ...onlineRoutes(world, like, served),
  ]);
}

/** The endpoints that are answered at once. Lines name them `/v1/…`, whatever stands before them in URLs. */
export function onlineRoutes(
  world: World,
  like: OpenAILike,
  endpoints: readonly string[] = like.endpoints,
): Route[] {
  const usualPath = (endpoint: string) => `${like.root}${endpoint.replace(/^\/v1/, '')}`;
  const pathOf = like.onlinePath ?? usualPath;
  return endpoints.map((endpoint) => [
    'POST',
    pathOf(endpoint),
    answerRealtime(world, like, endpoint),
  ]);
}

/** A provider with these routes that is, beyond them, as its description says. */
export function describedProvider(
  like: OpenAILike,
  batches: { store: BatchStore; addForeign: Provider['addForeignBatch'] },
  routes: readonly Route[],
): Provider {
  return {
    basePath: like.root,
    barePaths: like.barePaths,
    keyHeaders: like.keyHeaders,
    scopeHeaders: like.scopeHeaders,
    requestIdHeader: like.requestIdHeader,
    createPath: `${like.root}${like.batchesPath}`,
    errorBody: (refusal, _requestId, path) => like.errorBody(refusal, path),
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes,
  };
}
