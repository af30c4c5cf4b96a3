import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { type Batch, type BatchLine, BatchStore } from '../world/batches/batch.ts';
import { requestCancel } from '../world/batches/batch-life.ts';
import { startAccompanied, startBatch } from '../world/batches/start-batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { estimateTokens } from '../world/model/prompt.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { createWire } from './batch-wire.ts';
import { checkCreate, fileLines, inlinedLines } from './check-create.ts';
import type { GoogleBatch } from './details.ts';
import { endpointOf, unknownModel } from './dialect.ts';
import type { Files } from './files.ts';
import { operation } from './operation.ts';
import { page } from './page.ts';

const largestInline = 20_000_000;
const mostAtOnce = 100;

type Method = GoogleBatch['method'];

export function createBatches(world: World, files: Files) {
  const store = new BatchStore<GoogleBatch>();
  const wire = createWire(world, files);
  const show = (batch: Batch<GoogleBatch>) => operation(world, batch);

  function start(account: string, details: GoogleBatch, now: number, foreign: boolean) {
    const total = details.requests.length;
    return startBatch(world, wire, store, { id: newId(''), account, details, now, foreign, total });
  }

  function startForeign(account: string, method: Method, size: number, now: number) {
    const model = 'stranger-model';
    const requests = foreignLines(size, endpointOf(model, method));
    const displayName = newId('stranger-');
    return start(account, { ...newDetails(method, model, requests), displayName }, now, true);
  }

  function demand(id: string, account: string): Batch<GoogleBatch> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, `Batch ${id} was not found.`);
    return batch;
  }

  /** One limit of jobs, and one of tokens for each model. Neither says when to come back. */
  function demandRoom(account: string, { model, tokens }: GoogleBatch): void {
    const open = store
      .all()
      .filter((batch) => batch.account === account && batch.phase !== 'ended' && !batch.foreign);
    if (open.length >= mostAtOnce) throw exhausted('Too many batch jobs are under way.');
    const { enqueuedTokens = Number.POSITIVE_INFINITY } = world.settings.limits.google ?? {};
    const waiting = open
      .filter(({ details }) => details.model === model)
      .reduce((sum, { details }) => sum + details.tokens, 0);
    if (waiting + tokens > enqueuedTokens) {
      throw exhausted('You exceeded your current quota of enqueued tokens for this model.');
    }
  }

  async function read(exchange: Exchange, model: string, method: Method): Promise<GoogleBatch> {
    const { account, body } = exchange;
    const { displayName, input } = checkCreate(
      await readJson(body, largestInline),
      method === 'embedContent',
    );
    const { models } = world.settings;
    if (models?.includes(model) === false) throw new Refusal(404, unknownModel(model));
    const endpoint = endpointOf(model, method);
    const details = { ...newDetails(method, model, []), displayName };
    if ('requests' in input) {
      details.requests = inlinedLines(input.requests, endpoint);
    } else {
      const file = files.demand(input.fileName.replace(/^files\//, ''), account);
      const lines = fileLines(file.chunks, endpoint);
      details.fileId = file.id;
      if (Array.isArray(lines)) details.requests = lines;
      else details.problem = lines;
    }
    details.tokens = details.requests.reduce((sum, line) => sum + estimateTokens(line.body), 0);
    return details;
  }

  return {
    store,

    create:
      (method: Method) =>
      async (exchange: Exchange, model: string): Promise<Reply> => {
        const { account } = exchange;
        const details = await read(exchange, model, method);
        demandRoom(account, details);
        const size = details.requests.length;
        const batch = startAccompanied(
          world,
          (now) => start(account, details, now, false),
          (now) => startForeign(account, method, size, now),
        );
        return jsonReply(show(batch));
      },

    list({ account, query }: Exchange): Reply {
      const listed = store.listed(account, world.clock.now(), world.settings);
      return jsonReply(page('operations', listed.map(show), query));
    },

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    async cancel({ account, body }: Exchange, id: string): Promise<Reply> {
      const batch = demand(id, account);
      await readJson(body);
      if (batch.phase === 'ended') throw new Refusal(400, `Batch ${id} has ended already.`);
      requestCancel(world, batch);
      return jsonReply({});
    },

    /** A batch that runs is stopped, too. */
    remove({ account }: Exchange, id: string): Reply {
      requestCancel(world, demand(id, account));
      store.remove(id);
      return jsonReply({});
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, 'generateContent', size, world.clock.now()).id,
  };
}

function newDetails(method: Method, model: string, requests: BatchLine[]): GoogleBatch {
  const nothing = { displayName: '', fileId: null, problem: null, tokens: 0, output: null };
  return { method, model, requests, ...nothing };
}

function exhausted(message: string): Refusal {
  return new Refusal(429, message);
}

function foreignLines(size: number, endpoint: string): BatchLine[] {
  return strangersRequests(size, (customId, text) => {
    const content = { role: 'user', parts: [{ text }] };
    const body = endpoint.endsWith(':embedContent') ? { content } : { contents: [content] };
    return { customId, endpoint, body };
  });
}
