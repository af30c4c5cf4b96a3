import { createBatches } from '../openai-like/batches/batches.ts';
import type { Files } from '../openai-like/files/files.ts';
import { type Exchange, jsonReply, Refusal, type Reply } from '../server/exchange.ts';
import { readLines } from '../server/lines.ts';
import type { World } from '../world/world.ts';
import { mistralDescription } from './description.ts';
import { filterJobs } from './filter-jobs.ts';
import { jobKind } from './job-kind.ts';
import { page } from './page.ts';

export function createJobs(world: World, files: Files) {
  const jobs = createBatches(world, mistralDescription, jobKind(world, files));
  return {
    ...jobs,

    list: (exchange: Exchange): Reply =>
      jsonReply(page(filterJobs(jobs.listed(exchange), exchange.query), exchange.query)),

    /** `inline=true` shows the results in the job itself. */
    get({ account, query }: Exchange, id: string): Reply {
      const batch = jobs.demand(id, account);
      const job = jobs.show(batch);
      if (query.get('inline') !== 'true' || batch.phase !== 'ended') return jsonReply(job);
      const { outputFileId } = batch.details;
      const chunks = outputFileId === null ? [] : files.demand(outputFileId, account).chunks;
      const outputs = [...readLines(chunks)].map(({ text }) => JSON.parse(text));
      return jsonReply({ ...job, outputs });
    },

    remove({ account }: Exchange, id: string): Reply {
      if (jobs.demand(id, account).phase !== 'ended') {
        throw new Refusal(409, `Job ${id} cannot be deleted before it has ended`);
      }
      jobs.store.remove(id);
      return jsonReply({ id, object: 'batch', deleted: true });
    },
  };
}
