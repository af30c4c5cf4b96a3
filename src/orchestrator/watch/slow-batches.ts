import type { Batch } from '../model/batch.ts';
import { batchNews, sendNews } from '../model/batch-news.ts';
import { leastSlow, type SlowKind, type Slowness, slownessOf } from '../model/batch-times.ts';
import type { EngineScope, Lane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { cancelIfAskedFor } from './cancel-batch.ts';
import { isKeptFromCancel, warnOfLoss } from './lossy-cancel.ts';

/** The ledger is asked about a model this often while a batch of it is old enough to be slow. */
const askInterval = 5 * 60_000;

type BatchTimes = Awaited<ReturnType<EngineContext['ledger']['batchTimes']>>;

/** The lane that requests can take where this one is wanted: a model may have no flex tier. */
type LaneOf = (queue: RequestQueue, wanted: Lane, scope: EngineScope) => Promise<Lane>;

/**
 * Names batches that take far longer than others of their model and size used to. Where the scopes of its callers
 * want that (`onSlow`), such a batch is cancelled, and what it has not finished is sent another way when it has ended.
 */
export class SlowBatches {
  readonly #context: EngineContext;
  readonly #laneOf: LaneOf;
  /** When the ledger was last asked about each model. */
  readonly #askedAt = new Map<string, number>();
  /** What each batch has been called, the newest last. */
  readonly #told = new WeakMap<Batch, SlowKind[]>();
  /** Batches that are not moved because a cancel would lose answers: it has been said. */
  readonly #kept = new WeakSet<Batch>();

  constructor(context: EngineContext, laneOf: LaneOf) {
    this.#context = context;
    this.#laneOf = laneOf;
  }

  /** Called at each poll of a batch. One question to the ledger serves all batches of its model. */
  look(batch: Batch): void {
    const { clock, background } = this.#context;
    const now = clock.now();
    if ((ageOf(batch, now) ?? 0) < leastSlow) return;
    // Its callers may have come since it was found to be slow.
    if (this.#told.has(batch)) background(`move batch ${batch.token}`, this.#moveIfWanted(batch));
    const name = modelOf(batch);
    const askedAt = this.#askedAt.get(name) ?? Number.NEGATIVE_INFINITY;
    if (now - askedAt < askInterval) return;
    this.#askedAt.set(name, now);
    background(`look for slow batches of ${name}`, this.#ask(batch));
  }

  async #ask(asked: Batch): Promise<void> {
    const { ledger, batches, clock } = this.#context;
    const { batcher, queue } = asked;
    const times = await ledger.batchTimes({ provider: batcher.info.name, model: queue.model });
    const now = clock.now();
    for (const batch of [...batches.values()]) {
      if (modelOf(batch) !== modelOf(asked) || !this.#isSlow(batch, times, now)) continue;
      await this.#moveIfWanted(batch);
    }
  }

  #isSlow(batch: Batch, times: BatchTimes, now: number): boolean {
    const age = ageOf(batch, now);
    if (age === undefined) return false;
    const slowness = slownessOf({ token: batch.token, count: batch.count, age }, times);
    if (slowness === undefined) return false;
    const told = this.#told.get(batch) ?? [];
    if (told.includes(slowness.kind)) return true;
    const previous = told.at(-1);
    this.#told.set(batch, [...told, slowness.kind]);
    batch.emit('batch:slow', { ...batch.facts(), ...slowness, ...(previous && { previous }) });
    this.#post(batch, slowness);
    return true;
  }

  #post(batch: Batch, slowness: Slowness): void {
    const { mailbox, background } = this.#context;
    const news = batchNews(this.#context, batch, 'batch.slow', slowness, slowness.kind);
    const posting = mailbox.post(news).then(() => sendNews(this.#context, batch));
    background('write to its outbox', posting);
  }

  async #moveIfWanted(batch: Batch): Promise<void> {
    if (!batch.isWaitedFor()) return;
    const lane = await this.#laneAfter(batch);
    // It may have ended meanwhile.
    if (lane === undefined || ageOf(batch, this.#context.clock.now()) === undefined) return;
    if (!isKeptFromCancel(batch)) {
      this.#move(batch, lane);
    } else if (!this.#kept.has(batch)) {
      this.#kept.add(batch);
      hint(batch, keptText(batch));
    }
  }

  /** The lane for what is left of a batch; `undefined`: one of its scopes waits for the batch. */
  async #laneAfter({ queue, scopes }: Batch): Promise<Lane | undefined> {
    let lane: Lane | undefined;
    for (const scope of scopes) {
      const { onSlow } = scope;
      lane = onSlow === 'wait' ? 'batch' : await this.#laneOf(queue, onSlow, scope);
      if (lane === 'batch') return undefined;
    }
    return lane;
  }

  /** Nothing of it is sent before it has ended: until then it may still be answered, and paid for. */
  #move(batch: Batch, lane: Lane): void {
    warnOfLoss(this.#context, batch, 'because it is slow');
    const how = lane === 'flex' ? 'one by one in the flex tier' : 'as ordinary calls at full price';
    hint(
      batch,
      `${batch.token} is cancelled (onSlow): what it has not finished then goes out ${how}`,
    );
    batch.cancellation.askToMove();
    cancelIfAskedFor(this.#context, batch);
  }
}

function hint(batch: Batch, text: string): void {
  batch.emit('notice', { notice: 'hint', text });
}

function keptText({ token, batcher }: Batch): string {
  const { name } = batcher.info;
  return (
    `${token} is waited for in spite of onSlow: cancelling it would lose the answers that ${name} has finished, and ` +
    `sending them again would pay twice. To accept that: providers: { ${name}: { cancelAtDeadline: true } }`
  );
}

/** Milliseconds since it was accepted; `undefined`: the provider does not work on it, or is to stop. */
function ageOf({ phase, cancellation }: Batch, now: number): number | undefined {
  if (phase.name !== 'running' || cancellation.isOurs) return undefined;
  const { state } = phase.remote;
  return state === 'ended' || state === 'cancelling' ? undefined : now - phase.acceptedAt;
}

function modelOf({ batcher, queue }: Batch): string {
  return `${batcher.info.name} ${queue.model}`;
}
