import type { JsonObject } from '../../base/json.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import type { Part } from '../../orchestrator/capture/prepare.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import { type DryRunSummary, summaryOf } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { PlannedQueue } from '../../orchestrator/dry-run/planned-queue.ts';
import type { CapturedCall, EngineScope } from '../../orchestrator/model/call.ts';
import { queueKey } from '../../orchestrator/queue/queue-terms.ts';
import { loadPrices } from '../../pricing/price-list.ts';

const mostKinds = 4;
/** So many bytes of bodies are asked together: they are in memory until their batch is with the provider. */
const chunkBytes = 32 * 1024 * 1024;

interface PricedQueue {
  readonly planned: PlannedQueue;
  readonly itemBytes: number;
  readonly inFlight: number;
  lines: number;
  waiting: number;
}

/** What the lines of an input may cost, as a dry run tells it, for any number of lines. */
export class ExpectedCost {
  readonly #options: ResolvedOptions;
  readonly #scope: EngineScope;
  readonly #queues = new Map<string, PricedQueue>();
  #loading: Promise<unknown> | undefined;
  /** The next line nearly always belongs to the same queue. */
  #last:
    | { readonly model: string; readonly endpoint: string; readonly queue: PricedQueue }
    | undefined;

  constructor(options: ResolvedOptions, scope: EngineScope) {
    this.#options = options;
    this.#scope = scope;
  }

  /** Lines that are asked together: a batch for each kind of request, of which there may be too many for that. */
  get chunkLines(): number {
    const most = this.#batchSize * Math.max(1, Math.min(this.#queues.size, mostKinds));
    if (this.#lines === 0) return most;
    return Math.max(1, Math.min(most, Math.floor((chunkBytes * this.#lines) / this.#bytes)));
  }

  #lines = 0;
  #bytes = 0;

  #batchSize = 1;

  /** Why the line is too large, if it is. */
  add(target: Target, part: Part, json: JsonObject): string | undefined {
    const queue = this.#queueOf(target, part);
    const bytes = Buffer.byteLength(part.route.body);
    if (bytes > queue.itemBytes) {
      return `it has ${bytes} bytes, and ${target.provider} takes ${queue.itemBytes}`;
    }
    this.#lines += 1;
    this.#bytes += bytes;
    queue.planned.add(part, 0, json);
    queue.lines += 1;
    queue.waiting += 1;
    return undefined;
  }

  /** Packs and prices what has come together: a batch at a time. */
  async endPage(): Promise<void> {
    const most = Math.min(this.#batchSize, this.chunkLines);
    for (const queue of this.#queues.values()) {
      if (queue.waiting >= most) await this.#endRound(queue);
    }
  }

  async end(): Promise<void> {
    for (const queue of this.#queues.values()) await this.#endRound(queue);
  }

  summary(): DryRunSummary {
    const queues = [...this.#queues.values()].map(({ planned, inFlight }) => {
      const summary = planned.summary();
      // It was priced in parts, but is sent as one.
      return { ...summary, rounds: 1, oneAfterAnother: Math.ceil(summary.batches / inFlight) };
    });
    const calls = [...this.#queues.values()].reduce((sum, { lines }) => sum + lines, 0);
    const counts = { deep: true, calls, fromLedger: 0, underWay: 0, leftOut: 0, bypassed: 0 };
    return summaryOf(counts, queues);
  }

  async #endRound(queue: PricedQueue): Promise<void> {
    queue.waiting = 0;
    // Lines without a price are sent all the same.
    this.#loading ??= loadPrices().catch(() => undefined);
    await this.#loading;
    await queue.planned.endRound(async () => undefined);
  }

  #queueOf(target: Target, part: Part): PricedQueue {
    const { model, endpoint } = part.route;
    if (this.#last?.model === model && this.#last.endpoint === endpoint) return this.#last.queue;
    const call = { target, scope: this.#scope };
    const key = queueKey(call, part.route);
    const queue = this.#queues.get(key) ?? this.#open(call, part);
    this.#queues.set(key, queue);
    this.#last = { model, endpoint, queue };
    return queue;
  }

  #open(call: Pick<CapturedCall, 'target' | 'scope'>, part: Part): PricedQueue {
    const limits = call.target.batcher.limits(part.route);
    const { batchSize, maxInFlight } = this.#options;
    if (this.#queues.size === 0) {
      this.#batchSize = Math.min(batchSize ?? limits.recommendedItems, limits.items);
    }
    return {
      planned: new PlannedQueue(call, part, false),
      itemBytes: limits.itemBytes,
      inFlight: maxInFlight ?? limits.inFlight,
      lines: 0,
      waiting: 0,
    };
  }
}
