import { Slice } from '../../event-loop.ts';
import { outputRange } from '../../pricing/output-range.ts';
import { loadPrices } from '../../pricing/prices.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** What is known of a request before it is sent: its estimated input, and the most output it allows. */
export interface RequestSize {
  readonly tokens: number;
  readonly outputLimit: number | undefined;
}

/** What requests may cost, before they are sent. */
export class Estimates {
  readonly #context: EngineContext;
  readonly #averages = new WeakMap<RequestQueue, Promise<number | undefined>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * The most that these requests are expected to cost at list prices, in dollars; `undefined` where no
   * price is known. A budget is a promise: of a range the upper end counts.
   */
  async listPrice(
    queue: RequestQueue,
    requests: readonly RequestSize[],
  ): Promise<number | undefined> {
    const { report } = this.#context;
    await loadPrices().catch((error: unknown) => report('load the list prices', error));
    const needsAverage = requests.some(({ outputLimit }) => outputLimit === undefined);
    const average = needsAverage ? await this.#averageOutput(queue) : undefined;
    const slice = new Slice();
    let sum = 0;
    for (const { tokens, outputLimit } of requests) {
      if (slice.isOver) await slice.next();
      const { most } = outputRange(outputLimit, average);
      const price = queue.priceOf({ inputTokens: tokens, outputTokens: most });
      if (price === undefined) return undefined;
      sum += price;
    }
    return sum;
  }

  #averageOutput(queue: RequestQueue): Promise<number | undefined> {
    const known = this.#averages.get(queue);
    if (known) return known;
    const { ledger, report } = this.#context;
    const { endpoint, model } = queue;
    const asked = ledger
      .averageOutput({ provider: queue.batcher.info.name, endpoint, model })
      .catch((error: unknown) => {
        report('read what past answers were like', error);
        return undefined;
      });
    this.#averages.set(queue, asked);
    return asked;
  }
}
