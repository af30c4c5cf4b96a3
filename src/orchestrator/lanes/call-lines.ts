import type { OrdinaryLane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { QueueAccount, RequestQueue } from '../model/request-queue.ts';
import { CallLine } from './call-line.ts';
import { Room, type RoomMemory } from './room.ts';

/** The lines of all queues, and the room that those of one account and model share. */
export class CallLines {
  readonly #context: EngineContext;
  readonly #lines = new Map<RequestQueue, Map<OrdinaryLane, CallLine>>();
  readonly #rooms = new WeakMap<QueueAccount, Map<string, Room>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get all(): readonly CallLine[] {
    return [...this.#lines.values()].flatMap((lines) => [...lines.values()]);
  }

  /** The line of a queue and a lane. */
  open(queue: RequestQueue, lane: OrdinaryLane): CallLine {
    const lines = this.#lines.get(queue) ?? new Map<OrdinaryLane, CallLine>();
    this.#lines.set(queue, lines);
    const line = lines.get(lane) ?? new CallLine(queue, lane, this.#room(queue, lane));
    lines.set(lane, line);
    return line;
  }

  has(request: Request): boolean {
    return this.#of(request.queue).some((line) => line.has(request));
  }

  remove(request: Request): void {
    for (const line of this.#of(request.queue)) line.remove(request);
  }

  #of(queue: RequestQueue): readonly CallLine[] {
    return [...(this.#lines.get(queue)?.values() ?? [])];
  }

  /** One for all queues of an account with a model: the provider counts them together. */
  #room({ account, model, wire }: RequestQueue, lane: OrdinaryLane): Room {
    const rooms = this.#rooms.get(account) ?? new Map<string, Room>();
    this.#rooms.set(account, rooms);
    const name = `room ${lane} ${model} ${wire.base}`;
    const room = rooms.get(name) ?? new Room(this.#context.clock, this.#memory(account, name));
    rooms.set(name, room);
    return room;
  }

  /** A model that is full is a quota of no tokens for a while, which is kept where limits are. */
  #memory({ id }: QueueAccount, name: string): RoomMemory {
    const { ledger, report, background } = this.#context;
    return {
      async pause() {
        try {
          const { tokens: pause = 0, age = 0 } = (await ledger.limit(id, name)) ?? {};
          return Math.max(0, pause - age);
        } catch (error) {
          report('read whether a model has room', error);
          return 0;
        }
      },
      closed: (pause) =>
        background(
          'tell other processes that a model is full',
          ledger.learn(id, name, { tokens: Math.round(pause), named: false }),
        ),
    };
  }
}
