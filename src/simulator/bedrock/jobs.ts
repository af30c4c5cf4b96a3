import { type Exchange, jsonReply, type Reply, readJson } from '../server/exchange.ts';
import { type Batch, BatchStore } from '../world/batches/batch.ts';
import { requestCancel } from '../world/batches/batch-life.ts';
import { startAccompanied, startBatch } from '../world/batches/start-batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { createWire } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { takeRecords } from './check-lines.ts';
import type { BedrockJob } from './details.ts';
import { refusal } from './errors.ts';
import { arnOf, jobObject } from './job-object.ts';
import type { Objects } from './objects.ts';

const most = 50_000;
const largestInput = 1_000_000_000;
const mostOpen = 20;

export function createJobs(world: World, objects: Objects) {
  const store = new BatchStore<BedrockJob>();
  const wire = createWire(world, objects);
  const limits = () => world.settings.limits.bedrock ?? {};

  function start(account: string, details: BedrockJob, now: number, foreign: boolean) {
    const id = newId('')
      .toLowerCase()
      .replace(/[^a-z0-9]/g, '')
      .slice(0, 12)
      .padEnd(12, '0');
    const total = details.requests.length;
    return startBatch(world, wire, store, { id, account, details, now, foreign, total });
  }

  function startForeign(account: string, size: number, now: number) {
    const name = newId('stranger').replace(/[^A-Za-z0-9]/g, '');
    const uri = `s3://strangers/${name}.jsonl`;
    const job: BedrockJob = {
      name,
      token: '',
      modelId: 'anthropic.stranger-v1:0',
      roleArn: 'arn:aws:iam::123456789012:role/stranger',
      type: 'InvokeModel',
      inputUri: uri,
      outputUri: 's3://strangers/out/',
      hours: 24,
      requests: [],
      echoes: new Map(),
      problem: null,
    };
    const asLine = (recordId: string, content: string) =>
      JSON.stringify({
        recordId,
        modelInput: {
          anthropic_version: 'bedrock-2023-05-31',
          max_tokens: 5,
          messages: [{ role: 'user', content }],
        },
      });
    takeRecords(job, [Buffer.from(strangersRequests(size, asLine, name).join('\n'))], 1, most);
    return start(account, job, now, true);
  }

  function demand({ account }: Exchange, identifier: string): Batch<BedrockJob> {
    const batch = store.find(identifier.split('/').at(-1) ?? '', account);
    if (batch !== undefined) return batch;
    throw refusal(404, 'The specified job does not exist.');
  }

  function read(job: BedrockJob, account: string): void {
    const { requestsPerBatch = most, leastRequestsPerBatch = 100 } = limits();
    const { bytesPerBatch = largestInput } = limits();
    const input = objects.find(job.inputUri, account);
    const bytes = input?.chunks.reduce((sum, chunk) => sum + chunk.length, 0) ?? 0;
    // What is wrong with the input shows only after the create.
    if (input === undefined) {
      job.problem = { code: 'invalid', message: `Cannot read ${job.inputUri}: no such object.` };
    } else if (bytes > bytesPerBatch) {
      job.problem = { code: 'invalid', message: 'The input file is larger than 1 GB.' };
    } else {
      takeRecords(job, input.chunks, leastRequestsPerBatch, requestsPerBatch);
    }
  }

  /** A create with a token that is known makes nothing new, and says so to nobody. */
  function knownJob(account: string, { token }: BedrockJob): Batch<BedrockJob> | undefined {
    const isSame = (batch: Batch<BedrockJob>) =>
      batch.account === account && batch.details.token === token;
    return token === '' ? undefined : store.all().find(isSame);
  }

  return {
    store,

    async create(exchange: Exchange): Promise<Reply> {
      const { account } = exchange;
      const job = checkCreate(await readJson(exchange.body));
      const known = knownJob(account, job);
      if (known !== undefined) return jsonReply({ jobArn: arnOf(known) });
      if (world.settings.models?.includes(job.modelId) === false) {
        throw refusal(400, 'The provided model identifier is invalid.');
      }
      const isOpen = (batch: Batch) =>
        batch.account === account && batch.phase !== 'ended' && !batch.foreign;
      if (store.all().filter(isOpen).length >= mostOpen) {
        const message = 'Too many batch inference jobs are in progress.';
        throw refusal(400, message, 'ServiceQuotaExceededException');
      }
      read(job, account);
      const size = Math.max(1, job.requests.length);
      const batch = startAccompanied(
        world,
        (now) => start(account, job, now, false),
        (now) => startForeign(account, size, now),
      );
      return jsonReply({ jobArn: arnOf(batch) });
    },

    list({ account, query }: Exchange): Reply {
      const name = query.get('nameContains') ?? '';
      const listed = store
        .listed(account, world.clock.now(), world.settings)
        .filter(({ details }) => details.name.includes(name));
      const first = Number(query.get('nextToken') ?? 0);
      const next = first + Number(query.get('maxResults') ?? 20);
      const shown = listed.slice(first, next).map((batch) => jobObject(world, batch));
      return jsonReply({
        invocationJobSummaries: shown,
        ...(next < listed.length && { nextToken: String(next) }),
      });
    },

    get: (exchange: Exchange, id: string): Reply =>
      jsonReply(jobObject(world, demand(exchange, id))),

    stop(exchange: Exchange, id: string): Reply {
      const batch = demand(exchange, id);
      if (batch.phase === 'ended') throw refusal(409, 'The job has ended.', 'ConflictException');
      requestCancel(world, batch);
      return jsonReply({});
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, size, world.clock.now()).id,
  };
}
