import type { NewBatch } from '../../ledger/ledger.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Estimates } from './estimates.ts';

/** What a batch may cost and what its run may cost, for the ledger to decide when it is planned. */
export class BatchBudgets {
  readonly #context: EngineContext;
  readonly #estimates: Estimates;
  /** By provider and model. */
  readonly #unpriced = new Set<string>();

  constructor(context: EngineContext, estimates: Estimates) {
    this.#context = context;
    this.#estimates = estimates;
  }

  async of(
    queue: RequestQueue,
    requests: readonly Request[],
  ): Promise<Pick<NewBatch, 'estimate' | 'budget' | 'purse'>> {
    const wanted = requests.filter(({ isWanted }) => isWanted);
    const estimate = await this.#estimates.most(queue, wanted, queue.terms);
    // All of a queue have the same budget: it is part of the queue key.
    const budget = wanted[0]?.scope.budget;
    if (budget !== undefined && estimate === undefined) this.#tellUnpriced(queue, wanted);
    const purse = this.#context.purse();
    return {
      ...(estimate !== undefined && { estimate }),
      ...(budget !== undefined && { budget }),
      ...(budget !== undefined && purse !== undefined && { purse }),
    };
  }

  /** Before anything is sent: whoever wants no uncounted dollars may still stop the program. */
  #tellUnpriced({ batcher, model }: RequestQueue, [first]: readonly Request[]): void {
    const { name } = batcher.info;
    const key = `${name} ${model}`;
    if (this.#unpriced.has(key)) return;
    this.#unpriced.add(key);
    const text =
      `The budget does not count ${model} of ${name}, whose price batchling does not know. ` +
      `Say what it costs per million tokens: providers: { ${name}: { prices: { '${model}': ` +
      '{ input: …, output: … } } } }.';
    this.#context.logger.warn(text);
    first?.scope.emit('notice', { notice: 'hint', text });
  }
}
