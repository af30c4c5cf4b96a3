import { Slice } from '../../concurrency/event-loop.ts';
import { type Expectation, expectedUsage } from '../../pricing/expectation.ts';
import type { Terms } from '../../pricing/model-price.ts';
import { outputRange } from '../../pricing/output-range.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** What is known of a request before it is sent. */
export interface RequestSize {
  /** Estimated, of its input. */
  readonly tokens: number;
  readonly expects: Expectation;
}

/** What requests may cost, before they are sent. */
export class Estimates {
  readonly #context: EngineContext;
  readonly #averages = new WeakMap<RequestQueue, Promise<number | undefined>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * The most that these requests are expected to cost on these terms, or as ordinary calls, in dollars;
   * `undefined` where no price is known. A budget is a promise: of a range the upper end counts.
   */
  async most(
    queue: RequestQueue,
    requests: readonly RequestSize[],
    terms?: Terms,
  ): Promise<number | undefined> {
    const { report } = this.#context;
    await loadPrices().catch((error: unknown) => report('load the list prices', error));
    const needsAverage = requests.some(({ expects }) => expects.outputLimit === undefined);
    const average = needsAverage ? await this.#averageOutput(queue) : undefined;
    const slice = new Slice();
    let sum = 0;
    for (const { tokens, expects } of requests) {
      if (slice.isOver) await slice.next();
      const { most } = outputRange(expects, average);
      const charge = queue.price.charge(expectedUsage(tokens, expects, most), terms);
      if (charge === undefined) return undefined;
      sum += charge.paid;
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
