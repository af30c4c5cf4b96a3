import { nextTurn } from '../../concurrency/event-loop.ts';
import type { Cost, CostLabels } from '../../ledger/ledger.ts';
import type { EngineContext } from '../model/engine-context.ts';

/** What ordinary calls have cost whose answers no ledger keeps. Those that end together are written together. */
export class UnstoredCosts {
  readonly #context: EngineContext;
  readonly #unwritten = new Map<string, { labels: CostLabels; costs: (Cost | undefined)[] }>();
  #isWriting = false;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  add(labels: CostLabels, cost: Cost | undefined): void {
    const key = JSON.stringify(labels);
    const group = this.#unwritten.get(key) ?? { labels, costs: [] };
    this.#unwritten.set(key, group);
    group.costs.push(cost);
    if (this.#isWriting) return;
    this.#isWriting = true;
    this.#context.background('write down what ordinary calls have cost', this.#write());
  }

  async #write(): Promise<void> {
    const { ledger, owner } = this.#context;
    try {
      while (this.#unwritten.size > 0) {
        await nextTurn();
        const spent = [...this.#unwritten.values()].map(({ labels, costs }) => ({
          ...labels,
          costs,
        }));
        this.#unwritten.clear();
        await owner.run((id) => ledger.settled(id, [], spent));
      }
    } finally {
      this.#isWriting = false;
    }
  }
}
