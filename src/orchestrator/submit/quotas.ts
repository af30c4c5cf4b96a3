import { orAborted } from '../../http/backoff.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import type { PendingRequest } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import { TooMuchError } from '../watch/unwanted.ts';
import { Room, type RoomLimit } from './token-quota.ts';
import { waitForRoom } from './waits.ts';

/** Quotas are raised, and what filled them was perhaps somebody else's: tomorrow we try again. */
const remembered = 24 * 3_600_000;

/** The rooms of one engine, by account, base and model. What they learn is kept in the ledger. */
export class Governor {
  readonly #workshop: Workshop;
  readonly #rooms = new Map<string, Promise<Room>>();

  constructor(workshop: Workshop) {
    this.#workshop = workshop;
  }

  room(queue: Queue): Promise<Room> {
    const key = `${queue.account.id}\n${nameOf(queue)}`;
    let room = this.#rooms.get(key);
    if (room === undefined) {
      room = this.#open(queue);
      this.#rooms.set(key, room);
    }
    return room;
  }

  /** A batch of an earlier run that is under way takes up room like any other. */
  async occupy(batch: ActiveBatch): Promise<void> {
    const room = await this.room(batch.queue);
    batch.place = room.occupy(tokensOf(batch));
  }

  /** A batch of an earlier run that is yet to be created waits for room and for a slot. */
  async enter(batch: ActiveBatch): Promise<void> {
    const room = await this.room(batch.queue);
    batch.place = room.join(tokensOf(batch), firstOf(batch), batch.members.size);
    const turn = orAborted(batch.place.turn, batch.ending.signal);
    await waitForRoom(this.#workshop.troubles, batch, batch.queue, turn);
    if (batch.place.tokens > room.limit && batch.members.size > 1) throw new TooMuchError(batch);
    await batch.takeSlot();
  }

  async close(): Promise<void> {
    for (const room of this.#rooms.values()) (await room).close();
  }

  async #open(queue: Queue): Promise<Room> {
    const { account, batcher } = queue;
    const name = nameOf(queue);
    const { ledger, clock, background } = this.#workshop;
    const { tokens, outlives } = batcher.limits(queue);
    const published = tokens === undefined ? undefined : { tokens, named: true };
    const onLearnt = (limit: RoomLimit) => {
      const noted = ledger.learn(account.id, name, limit);
      background(`note how much of ${name} may be under way`, noted);
    };
    return new Room(clock, (await this.#known(account.id, name)) ?? published, outlives, onLearnt);
  }

  /** A ledger that cannot be read costs a refusal, not the batch. */
  async #known(account: number, name: string): Promise<RoomLimit | undefined> {
    const { ledger, report } = this.#workshop;
    try {
      const known = await ledger.limit(account, name);
      return known && known.age < remembered ? known : undefined;
    } catch (error) {
      report(`look up how much of ${name} may be under way`, error);
      return undefined;
    }
  }
}

/** Only of those who asked again the size is known; the others will be like them. */
function tokensOf({ members }: ActiveBatch): number {
  let tokens = 0;
  let known = 0;
  for (const { pending } of members.values()) {
    if (pending === undefined) continue;
    tokens += pending.tokens;
    known += 1;
  }
  return known === 0 ? 0 : Math.ceil((tokens / known) * members.size);
}

/** Of those who asked again. */
function firstOf({ members }: ActiveBatch): PendingRequest | undefined {
  for (const { pending } of members.values()) if (pending) return pending;
  return undefined;
}

/** One key may be used at several bases, a dummy one above all: each has room of its own. */
function nameOf({ model, wire }: Queue): string {
  return `${model} at ${wire.base}`;
}
