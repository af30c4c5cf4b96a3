import { describedProvider, onlineRoutes } from '../openai-like/provider.ts';
import { jsonReply, Refusal } from '../server/exchange.ts';
import type { Provider } from '../world/provider.ts';
import type { World } from '../world/world.ts';
import { createDatasets } from './datasets.ts';
import { fireworksDescription } from './description.ts';
import { createJobs } from './jobs.ts';
import { accountName } from './names.ts';

/** Fireworks: datasets and jobs of an account, and calls beside them. */
export function createFireworks(world: World): Provider {
  const datasets = createDatasets(world);
  const jobs = createJobs(world, datasets);
  const at = `/v1/${accountName}`;
  const account = { name: accountName, displayName: 'Simulator', email: 'somebody@example.com' };
  const provider = describedProvider(fireworksDescription, jobs, [
    ['GET', '/v1/accounts', () => jsonReply({ accounts: [account], totalSize: 1 })],
    ['POST', `${at}/datasets`, datasets.create],
    ['POST', `${at}/datasets/:id:upload`, datasets.upload],
    ['GET', `${at}/datasets/:id:getDownloadEndpoint`, datasets.endpoints],
    ['GET', `${at}/datasets/:id`, datasets.get],
    ['DELETE', `${at}/datasets/:id`, datasets.remove],
    ['GET', '/downloads/:id', datasets.download, 'signed'],
    ['POST', `${at}/batchInferenceJobs`, jobs.create],
    ['GET', `${at}/batchInferenceJobs`, jobs.list],
    ['GET', `${at}/batchInferenceJobs/:id`, jobs.get],
    ['DELETE', `${at}/batchInferenceJobs/:id`, jobs.remove],
    ...onlineRoutes(world, fireworksDescription),
  ]);
  return {
    ...provider,
    createPath: `${at}/batchInferenceJobs`,
    unauthorized: () => new Refusal(403, 'The API key you provided is invalid.'),
  };
}
