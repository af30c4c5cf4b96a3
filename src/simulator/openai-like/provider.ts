import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches/batches.ts';
import type { OpenAILike } from './description.ts';
import { realtimeEndpoints } from './dialect.ts';
import { notFound, unauthorized } from './errors.ts';
import { createFiles } from './files/files.ts';
import { answerRealtime } from './realtime.ts';

/** A provider with files and batches like OpenAI's. */
export function createOpenAILike(world: World, like: OpenAILike): Provider {
  const files = createFiles(world, like);
  const batches = createBatches(world, like, files);
  const filesAt = `${like.root}${like.filesPath}`;
  const batchesAt = `${like.root}${like.batchesPath}`;
  const named = like.endpoints.map((endpoint) => like.answersAs?.(endpoint) ?? endpoint);
  const served = realtimeEndpoints.filter((endpoint) => named.includes(endpoint));
  // Lines name `/v1/chat/completions`, whatever stands before it in URLs.
  const onlinePath =
    like.onlinePath ?? ((endpoint: string) => `${like.root}${endpoint.replace(/^\/v1/, '')}`);
  return {
    basePath: like.root,
    barePaths: like.barePaths,
    keyHeaders: like.keyHeaders,
    scopeHeaders: like.scopeHeaders,
    requestIdHeader: like.requestIdHeader,
    createPath: batchesAt,
    errorBody: (refusal, _requestId, path) => like.errorBody(refusal, path),
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes: [
      ...(like.moreRoutes?.({ world, like, files, batches }) ?? []),
      ['POST', filesAt, files.upload],
      ['GET', filesAt, files.list],
      ['GET', `${filesAt}/:id`, files.get],
      ['DELETE', `${filesAt}/:id`, files.remove],
      ['GET', `${filesAt}/:id/content`, files.content],
      ['POST', batchesAt, batches.create],
      ['GET', batchesAt, batches.list],
      ['GET', `${batchesAt}/:id`, batches.get],
      ['POST', `${batchesAt}/:id/cancel`, batches.cancel],
      ...served.map(
        (endpoint) =>
          ['POST', onlinePath(endpoint), answerRealtime(world, like, endpoint)] as const,
      ),
    ],
  };
}
