import { type Exchange, jsonReply, Refusal, type Reply } from '../../server/exchange.ts';
import type { JsonObject } from '../../server/json.ts';
import { type Batch, BatchStore } from '../../world/batches/batch.ts';
import { requestCancel } from '../../world/batches/batch-life.ts';
import type { BatchWire } from '../../world/batches/batch-wire.ts';
import { startAccompanied, startBatch } from '../../world/batches/start-batch.ts';
import { newId } from '../../world/random.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike } from '../description.ts';
import type { OpenAIBatch } from './details.ts';

/** What a provider's batches do in their own way; `openaiKind` is OpenAI's. */
export interface BatchKind<Details> {
  wire(store: BatchStore<Details>): BatchWire<Details>;
  /** Reads a create, and throws why it is refused. */
  read(exchange: Exchange): Promise<Details>;
  /** How many requests a batch came with, before they are read. */
  sizeOf(details: Details, account: string): number;
  /** Their number is told from the start, not only once they were read. */
  countsAtOnce?: true;
  /** A stranger's batch of that size; `own` is the client's batch that it accompanies. */
  foreign(account: string, size: number, own?: Details): Details;
  show(batch: Batch<Details>): JsonObject;
  /** The message about an id that no batch has. */
  unknown(id: string): string;
  /** The answer to a cancel of a batch that has ended. Missing: nothing happens. */
  tooLate?(batch: Batch<Details>): Refusal;
}

export type Batches<Details = OpenAIBatch> = ReturnType<typeof createBatches<Details>>;

/** Creates, lists, shows and cancels batches. */
export function createBatches<Details>(world: World, like: OpenAILike, kind: BatchKind<Details>) {
  const store = new BatchStore<Details>();
  const wire = kind.wire(store);
  const { show } = kind;

  function start(account: string, details: Details, now: number, foreign: boolean) {
    const id = newId(like.batchIdPrefix);
    const requests = kind.countsAtOnce ? kind.sizeOf(details, account) : 0;
    return startBatch(world, wire, store, { id, account, details, now, foreign, requests });
  }

  function demand(id: string, account: string): Batch<Details> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, kind.unknown(id));
    return batch;
  }

  const listed = ({ account }: Exchange) =>
    store.listed(account, world.clock.now(), world.settings).map(show);

  return {
    store,
    show,
    demand,
    listed,

    async create(exchange: Exchange): Promise<Reply> {
      const { account } = exchange;
      const details = await kind.read(exchange);
      const batch = startAccompanied(
        world,
        (now) => start(account, details, now, false),
        (now) => {
          const size = kind.sizeOf(details, account);
          start(account, kind.foreign(account, size, details), now, true);
        },
      );
      return jsonReply(like.created(show(batch)), like.createStatus);
    },

    list: (exchange: Exchange): Reply =>
      jsonReply(like.page(listed(exchange), exchange.query, { standard: 20, most: 100 })),

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    cancel({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      if (batch.phase === 'ended' && kind.tooLate) throw kind.tooLate(batch);
      requestCancel(world, batch);
      return jsonReply(show(batch));
    },

    addForeign: (account: string, size: number): string =>
      start(account, kind.foreign(account, size), world.clock.now(), true).id,
  };
}
