import { createFiles } from '../openai-like/files/files.ts';
import type { Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import { errorBody, notFound, unauthorized } from './errors.ts';
import { createJobs } from './jobs.ts';
import { answerRealtime } from './realtime.ts';

/** Transcriptions at once take a form, not JSON; the simulator serves them in batches only. */
const batchesOnly = '/v1/audio/transcriptions';

export function createMistral(world: World): Provider {
  const files = createFiles(world, mistralDescription);
  const jobs = createJobs(world, files);
  const online = mistralDescription.endpoints.filter((endpoint) => endpoint !== batchesOnly);
  return {
    // Its SDK writes /v1 itself.
    basePath: '',
    barePaths: [],
    keyHeaders: [],
    scopeHeaders: [],
    requestIdHeader: mistralDescription.requestIdHeader,
    createPath: '/v1/batch/jobs',
    errorBody,
    notFound,
    unauthorized,
    batches: jobs.store,
    addForeignBatch: jobs.addForeign,
    routes: [
      ['POST', '/v1/files', files.upload],
      ['GET', '/v1/files', files.list],
      ['GET', '/v1/files/:id', files.get],
      ['DELETE', '/v1/files/:id', files.remove],
      ['GET', '/v1/files/:id/content', files.content],
      ['POST', '/v1/batch/jobs', jobs.create],
      ['GET', '/v1/batch/jobs', jobs.list],
      ['GET', '/v1/batch/jobs/:id', jobs.get],
      ['DELETE', '/v1/batch/jobs/:id', jobs.remove],
      ['POST', '/v1/batch/jobs/:id/cancel', jobs.cancel],
      ...online.map((path): Route => ['POST', path, answerRealtime(world, path)]),
    ],
  };
}
