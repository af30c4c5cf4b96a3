import { randomBytes } from 'node:crypto';
import { messageOf } from '../../base/errors.ts';
import type { Handle, ItemId } from '../../base/types.ts';
import type { Batcher, Plan, Remote, Route, Row } from '../../batchers/batcher.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { itemId } from '../../orchestrator/model/request.ts';
import type { RecordingWire } from './recording-wire.ts';

/** A status as the provider called it, and when it was first seen. */
export interface SeenStatus {
  readonly word: string;
  readonly means: Remote['state'];
  /** Milliseconds after the create. */
  readonly after: number;
}

export interface LiveResult {
  /** What a search by its tag found right after its create. */
  readonly found: string;
  readonly statuses: readonly SeenStatus[];
  /** Why what was to be done after its create failed. */
  readonly refusal: string | undefined;
  readonly counts: Remote['counts'];
  readonly rows: readonly Row[];
  readonly itemId: ItemId;
}

/** What batchling calls a batch and its request. */
export interface BatchNames {
  readonly token: string;
  readonly itemId: ItemId;
}

function newNames(): BatchNames {
  return { token: `bl_${randomBytes(8).toString('hex')}`, itemId: itemId(randomBytes(32), 0) };
}

/** A batch of one request, sent and followed to its end. It is in no ledger. */
export class LiveBatch {
  readonly #batcher: Batcher;
  readonly #wire: RecordingWire;
  readonly #plan: Plan;
  readonly #itemId: ItemId;
  readonly #statuses: SeenStatus[] = [];
  /** Ids that the provider has given; no report shows them. */
  readonly ids: string[] = [];

  constructor(batcher: Batcher, wire: RecordingWire, route: Route, names = newNames()) {
    this.#batcher = batcher;
    this.#wire = wire;
    this.#itemId = names.itemId;
    const id = names.itemId;
    const item = { id, body: route.body, ...batcher.envelope(route, id) };
    const [window] = Object.values(batcher.limits(route).windows);
    this.#plan = {
      token: names.token,
      route,
      count: 1,
      bytes: item.before.length + Buffer.byteLength(item.body) + item.after.length,
      completionWindow: window?.word ?? '24h',
      settings: {},
      tags: { name: 'batchling-doctor' },
      items: async function* () {
        yield [item];
      },
    };
  }

  get names(): BatchNames {
    return { token: this.#plan.token, itemId: this.#itemId };
  }

  /** `afterCreate`: what is done as soon as the provider has it. */
  async run(
    interval: number,
    signal: AbortSignal,
    afterCreate?: (remote: Remote) => Promise<void>,
  ): Promise<LiveResult> {
    const { clock } = this.#wire;
    const handle = await this.#batcher.stage(this.#wire, this.#plan);
    this.ids.push(...Object.values(handle));
    try {
      const created = await this.#batcher.create(this.#wire, this.#plan, handle);
      this.ids.push(created.id);
      const startedAt = clock.now();
      this.#see(created, 0);
      const refusal = await afterCreate?.(created).then(() => undefined, messageOf);
      const found = await this.#find(created, handle);
      const ended = await this.#untilEnded(created, handle, startedAt, interval, signal);
      this.ids.push(...Object.values(ended.sources));
      const rows = ended.readable ? await this.#rows(ended) : [];
      const { counts } = ended;
      const statuses = this.#statuses;
      return { found, statuses, refusal, counts, rows, itemId: this.#itemId };
    } finally {
      await this.#batcher.cleanup(this.#wire, handle).catch(() => undefined);
    }
  }

  async #find(created: Remote, handle: Handle): Promise<string> {
    const found = await this.#batcher.find(this.#wire, this.#plan, handle);
    if (found.kind === 'absent') return 'not listed yet';
    const isThere = found.remotes.some(({ id }) => id === created.id);
    const how = found.kind === 'exact' ? 'exactly' : 'as a candidate';
    return isThere ? `found ${how}, among ${found.remotes.length}` : 'others were found instead';
  }

  async #untilEnded(
    created: Remote,
    handle: Handle,
    startedAt: number,
    interval: number,
    signal: AbortSignal,
  ): Promise<Remote> {
    const { clock } = this.#wire;
    for (let remote = created; ; ) {
      if (remote.state === 'ended' && !remote.incomplete) return remote;
      await sleep(clock, interval, signal);
      const polled = [{ id: created.id, count: 1, handle }];
      for await (const seen of this.#batcher.poll(this.#wire, polled)) {
        remote = seen;
        this.#see(seen, clock.now() - startedAt);
      }
    }
  }

  #see({ raw, state }: Remote, after: number): void {
    if (this.#statuses.at(-1)?.word !== raw)
      this.#statuses.push({ word: raw, means: state, after });
  }

  async #rows(ended: Remote): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const group of this.#batcher.results(this.#wire, ended)) rows.push(...group);
    return rows;
  }
}
