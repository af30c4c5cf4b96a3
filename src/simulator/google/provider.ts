import type { Handler, Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createBatches } from './batches.ts';
import { errorBody, notFound, unauthorized } from './errors.ts';
import { createFiles } from './files.ts';
import { createRealtime } from './realtime.ts';
import { createUploads } from './uploads.ts';

/** The Gemini API: batches of requests in the create itself or in a file, as long-running operations. */
export function createGoogle(world: World): Provider {
  const files = createFiles(world);
  const batches = createBatches(world, files);
  const realtime = createRealtime(world);
  // Files and batches are documented below /v1beta only.
  const online = (method: string, handler: Handler): Route[] =>
    ['/v1beta', '/v1'].map((root) => ['POST', `${root}/models/:id:${method}`, handler]);
  return {
    basePath: '',
    barePaths: ['/v1beta', '/upload/v1beta', '/download/v1beta'],
    keyHeaders: ['x-goog-api-key'],
    scopeHeaders: ['x-goog-user-project'],
    requestIdHeader: 'x-goog-request-id',
    createPath: /^\/v1beta\/models\/[^/]+:(batchGenerateContent|asyncBatchEmbedContent)$/,
    errorBody,
    notFound,
    unauthorized,
    batches: batches.store,
    addForeignBatch: batches.addForeign,
    routes: [
      ...online('generateContent', realtime.generate),
      ...online('streamGenerateContent', realtime.stream),
      ...online('embedContent', realtime.embed),
      ...online('batchEmbedContents', realtime.embedMany),
      ...online('countTokens', realtime.countTokens),
      ['POST', '/v1beta/models/:id:batchGenerateContent', batches.create('generateContent')],
      ['POST', '/v1beta/models/:id:asyncBatchEmbedContent', batches.create('embedContent')],
      ['GET', '/v1beta/batches', batches.list],
      ['GET', '/v1beta/batches/:id', batches.get],
      ['DELETE', '/v1beta/batches/:id', batches.remove],
      ['POST', '/v1beta/batches/:id:cancel', batches.cancel],
      ['POST', '/upload/v1beta/files', createUploads(world, files)],
      ['GET', '/v1beta/files', files.list],
      ['GET', '/v1beta/files/:id:download', files.download],
      ['GET', '/download/v1beta/files/:id:download', files.download],
      ['GET', '/v1beta/files/:id', files.get],
      ['DELETE', '/v1beta/files/:id', files.remove],
    ],
  };
}
