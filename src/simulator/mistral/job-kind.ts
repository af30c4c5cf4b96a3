import { statusOf } from '../openai-like/batches/batch-object.ts';
import type { BatchKind } from '../openai-like/batches/batches.ts';
import type { Files } from '../openai-like/files/files.ts';
import { Refusal, readJson } from '../server/exchange.ts';
import { countLines } from '../server/lines.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import type { World } from '../world/world.ts';
import { checkCreate, inlineLines } from './check-create.ts';
import { mistralDescription } from './description.ts';
import { type MistralJob, newJob } from './details.ts';
import { jobObject } from './job-object.ts';
import { createWire } from './job-wire.ts';

/** Batches that are called jobs; their requests may travel in the create call. */
export function jobKind(world: World, files: Files): BatchKind<MistralJob> {
  return {
    wire: (store) => createWire(world, files, store),
    async read({ account, body }) {
      const { bytesPerBatch } = world.settings.limits.mistral ?? {};
      return checkCreate(await readJson(body, bytesPerBatch), (id) => files.find(id, account));
    },
    sizeOf: ({ input }) => countLines(input),
    countsAtOnce: true,
    foreign: (_account, size, own) => foreignJob(own?.endpoint ?? '/v1/chat/completions', size),
    show: (batch) => jobObject(world, batch),
    unknown: (id) => `Job ${id} not found`,
    tooLate(batch) {
      const status = statusOf(mistralDescription, batch);
      return new Refusal(409, `Job ${batch.id} cannot be cancelled: it is ${status}`);
    },
  };
}

function foreignJob(endpoint: string, size: number): MistralJob {
  const model = 'stranger-model';
  const requests = strangersRequests(size, (custom_id, question) => {
    const messages = [{ role: 'user', content: question }];
    return { custom_id, body: { model, messages, input: question } };
  });
  const metadata = { batchling: 'bl_of_somebody_else' };
  return newJob(endpoint, model, metadata, { inputFiles: [], input: inlineLines(requests) });
}
