import type { Queue } from './queue.ts';
import { Room, type RoomLimit } from './room.ts';
import type { Workshop } from './workshop.ts';

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

  async close(): Promise<void> {
    for (const room of this.#rooms.values()) (await room).close();
  }

  async #open(queue: Queue): Promise<Room> {
    const { account, batcher, endpoint } = queue;
    const name = nameOf(queue);
    const { ledger, clock, background } = this.#workshop;
    const { tokens, outlives } = batcher.limits(endpoint);
    const published = tokens === undefined ? undefined : { tokens, named: true };
    const onLearnt = (limit: RoomLimit) => {
      const noted = ledger.learn(account.id, name, limit);
      background(`note how much of ${name} may be under way`, noted);
    };
    return new Room(clock, (await this.#known(account.id, name)) ?? published, outlives, onLearnt);
  }

  /** A ledger that cannot be read costs a refusal, not the batch. */
  async #known(account: number, name: string): Promise<RoomLimit | undefined> {
    const { ledger, clock, report } = this.#workshop;
    try {
      const known = await ledger.limit(account, name);
      // Either way: after a clock was set back it may have been learnt in the future.
      return known && Math.abs(clock.now() - known.learntAt) < remembered ? known : undefined;
    } catch (error) {
      report(`look up how much of ${name} may be under way`, error);
      return undefined;
    }
  }
}

/** One key may be used at several bases, a dummy one above all: each has room of its own. */
function nameOf({ model, wire }: Queue): string {
  return `${model} at ${wire.base}`;
}
