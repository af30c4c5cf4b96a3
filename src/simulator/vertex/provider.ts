import { errorBody, notFound } from '../google/errors.ts';
import { Refusal } from '../server/exchange.ts';
import type { Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createJobs } from './jobs.ts';
import { createObjects } from './objects.ts';
import { createRealtime } from './realtime.ts';
import { createUploads } from './uploads.ts';

/** Vertex AI, and the little of Cloud Storage that its batch prediction jobs need, on one host. */
export function createVertex(world: World): Provider {
  const objects = createObjects(world);
  const uploads = createUploads(world, objects);
  const jobs = createJobs(world, objects);
  const realtime = createRealtime(world);
  const below = (root: string): Route[] => {
    const place = `${root}/projects/:id/locations/:id`;
    const gemini = `${place}/publishers/google/models/:id`;
    const claude = `${place}/publishers/anthropic/models/:id`;
    return [
      ['POST', `${gemini}:generateContent`, realtime.generate],
      ['POST', `${gemini}:streamGenerateContent`, realtime.stream],
      ['POST', `${claude}:rawPredict`, realtime.predict],
      ['POST', `${claude}:streamRawPredict`, realtime.predict],
      // Express mode names no project, and has no batches.
      ['POST', `${root}/publishers/google/models/:id:generateContent`, realtime.generate],
      ['POST', `${root}/publishers/google/models/:id:streamGenerateContent`, realtime.stream],
      ['POST', `${place}/batchPredictionJobs`, jobs.create],
      ['GET', `${place}/batchPredictionJobs`, jobs.list],
      ['GET', `${place}/batchPredictionJobs/:id`, jobs.get],
      ['DELETE', `${place}/batchPredictionJobs/:id`, jobs.remove],
      ['POST', `${place}/batchPredictionJobs/:id:cancel`, jobs.cancel],
    ];
  };
  return {
    basePath: '',
    barePaths: ['/v1/projects', '/v1beta1', '/storage/v1', '/upload/storage/v1'],
    keyHeaders: [],
    scopeHeaders: ['x-goog-user-project'],
    requestIdHeader: 'x-goog-request-id',
    createPath: /^\/v1(beta1)?\/projects\/[^/]+\/locations\/[^/]+\/batchPredictionJobs$/,
    errorBody,
    notFound,
    unauthorized,
    batches: jobs.store,
    addForeignBatch: jobs.addForeign,
    routes: [
      ...below('/v1'),
      ...below('/v1beta1'),
      ['POST', '/upload/storage/v1/b/:id/o', uploads.start],
      // The address of a session is the permission to write to it.
      ['PUT', '/upload/storage/v1/b/:id/o', uploads.receive, 'signed'],
      ['GET', '/storage/v1/b/:id/o', objects.list],
      ['GET', '/storage/v1/b/:id/o/:id', objects.read],
      ['DELETE', '/storage/v1/b/:id/o/:id', objects.remove],
    ],
  };
}

/** Only tokens of OAuth are accepted. */
function unauthorized(): Refusal {
  const message =
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.';
  return new Refusal(401, message);
}
