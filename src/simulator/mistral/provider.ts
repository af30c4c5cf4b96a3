import { createFiles } from '../openai-like/files/files.ts';
import { describedProvider } from '../openai-like/provider.ts';
import { answerRealtime } from '../openai-like/realtime.ts';
import { batchRoutes, fileRoutes } from '../openai-like/routes.ts';
import { readJson } from '../server/exchange.ts';
import type { Provider, Route } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import { realtimeDialect } from './dialect.ts';
import { notFound, unauthorized } from './errors.ts';
import { createJobs } from './jobs.ts';
import { streamCompletion } from './stream-completion.ts';

/** Transcriptions at once take a form, not JSON; the simulator serves them in batches only. */
const batchesOnly = '/v1/audio/transcriptions';

/** What differs from OpenAI: its batches are jobs, and its models have endpoints and errors of their own. */
export function createMistral(world: World): Provider {
  const { filesPath, batchesPath, endpoints } = mistralDescription;
  const files = createFiles(world, mistralDescription);
  const jobs = createJobs(world, files);
  const online = (path: string): Route => [
    'POST',
    path,
    answerRealtime(world, mistralDescription, path, {
      dialect: realtimeDialect,
      stream: streamCompletion,
      read: ({ body }) => readJson(body),
    }),
  ];
  const provider = describedProvider(mistralDescription, jobs, [
    ...fileRoutes(filesPath, files),
    ...batchRoutes(batchesPath, jobs),
    ['DELETE', `${batchesPath}/:id`, jobs.remove],
    ...endpoints.filter((endpoint) => endpoint !== batchesOnly).map(online),
  ]);
  return { ...provider, notFound, unauthorized };
}
