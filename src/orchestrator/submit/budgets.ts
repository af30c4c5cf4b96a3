import { messageOf, OverBudgetError } from '../../base/errors.ts';
import { Slice } from '../../concurrency/event-loop.ts';
import type { NewBatch } from '../../ledger/ledger.ts';
import { dollars } from '../../pricing/dollars.ts';
import { expectedUsage } from '../../pricing/expectation.ts';
import type { Terms } from '../../pricing/model-price.ts';
import { outputRange } from '../../pricing/output-range.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import { type RequestSize, sameSizes } from '../../pricing/request-size.ts';
import { refuseRequests } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import { factsOf } from '../events/events.ts';
import type { EngineScope, Spending } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** The ledger is asked so often how long answers of a queue are: a process that runs for days learns it, too. */
const averageKept = 60_000;

interface Average {
  readonly askedAt: number;
  readonly tokens: Promise<number | undefined>;
}

/** What requests may cost before they are sent, and what their run may cost. */
export class Budgets {
  readonly #context: EngineContext;
  readonly #averages = new WeakMap<RequestQueue, Average>();
  /** What people have been told, with its provider and model. */
  readonly #told = new Set<string>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** What a batch may cost and what its run may cost, for the ledger to decide when the batch is planned. */
  async ofBatch(
    queue: RequestQueue,
    requests: readonly RequestSize[],
    /** All of a queue have the same budget: it is part of the queue key. */
    scope: EngineScope | undefined,
  ): Promise<Pick<NewBatch, 'estimate' | 'budget' | 'purse'>> {
    const estimate = await this.#most(queue, requests, queue.terms);
    const budget = scope?.budget;
    if (scope && budget !== undefined && estimate === undefined) this.#tellUnpriced(queue, scope);
    const purse = this.#context.purse();
    return {
      ...(estimate !== undefined && { estimate }),
      ...(budget !== undefined && { budget }),
      ...(budget !== undefined && purse !== undefined && { purse }),
    };
  }

  /** The part that a realtime call of ours has in the budget of its run. */
  ofRealtimeCall({ queue, size, budget, terms }: RealtimeCall): Spending {
    const { ledger, owner, background, purse } = this.#context;
    let reserved = 0;
    let from: string | undefined;
    return {
      reserve: async () => {
        try {
          const estimate = (await this.#most(queue, [size], terms)) ?? 0;
          from = purse();
          await owner.run((id) => ledger.spend(id, estimate, budget, from));
          reserved = estimate;
          return undefined;
        } catch (error) {
          if (error instanceof OverBudgetError) return overBudget('The call', error, from);
          return `The call was not sent: the budget could not be checked: ${messageOf(error)}`;
        }
      },
      paid(actual) {
        const rest = actual - reserved;
        if (rest === 0) return;
        reserved = actual;
        background(
          'write down what a realtime call has cost',
          owner.run((id) => ledger.spend(id, rest, undefined, from)),
        );
      },
    };
  }

  /**
   * Ends requests whose batch the budget has no room for. All of them: which part of a batch would fit is
   * an estimate on top of estimates. A job may have thousands of such batches: people are told of the first of a model.
   */
  refuse(requests: readonly Request[], error: OverBudgetError): Promise<void> {
    const { length } = requests;
    const [first] = requests as readonly [Request];
    const purse = this.#context.purse();
    const what = `A batch of ${length} request${length === 1 ? '' : 's'}`;
    const message = overBudget(what, error, purse);
    if (this.#isFirst(`over ${first.scope.budget}`, first.queue, purse)) {
      first.scope.emit('notice', { notice: 'hint', text: message });
    }
    return refuseRequests(this.#context, requests, ({ batcher }) =>
      ownAnswer(batcher, 'budget', message),
    );
  }

  /**
   * The most that these requests are expected to cost on these terms, or as ordinary calls, in dollars;
   * `undefined` where no price is known. A budget is a promise: of a range the upper end counts.
   */
  async #most(
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
    for (const { tokens, expects, count } of sameSizes(requests)) {
      if (slice.isOver) await slice.next();
      const { most } = outputRange(expects, average);
      const charge = queue.price.charge(expectedUsage(tokens, expects, most), terms);
      if (charge === undefined) return undefined;
      sum += charge.paid * count;
    }
    return sum;
  }

  #averageOutput(queue: RequestQueue): Promise<number | undefined> {
    const { ledger, report, clock } = this.#context;
    const known = this.#averages.get(queue);
    const now = clock.now();
    if (known && now - known.askedAt < averageKept) return known.tokens;
    const tokens = ledger.averageOutput(factsOf(queue.batcher, queue)).catch((error: unknown) => {
      report('read what past answers were like', error);
      return undefined;
    });
    this.#averages.set(queue, { askedAt: now, tokens });
    return tokens;
  }

  /** Tells people before anything is sent, so that they may still stop the program. */
  #tellUnpriced(queue: RequestQueue, scope: EngineScope): void {
    if (!this.#isFirst('unpriced', queue)) return;
    const { batcher, model } = queue;
    const { name } = batcher.info;
    const text =
      `The budget does not count ${model} of ${name}, whose price batchling does not know. ` +
      `Say what it costs per million tokens: providers: { ${name}: { prices: { '${model}': ` +
      '{ input: …, output: … } } } }.';
    this.#context.logger.warn(text);
    scope.emit('notice', { notice: 'hint', text });
  }

  /** A gateway has a budget for each day, and tells of each. */
  #isFirst(topic: string, { batcher, model }: RequestQueue, day = ''): boolean {
    const key = `${topic} ${batcher.info.name} ${model} ${day}`;
    if (this.#told.has(key)) return false;
    this.#told.add(key);
    return true;
  }
}

/** An ordinary call of a run that has a budget. */
export interface RealtimeCall {
  readonly queue: RequestQueue;
  readonly size: RequestSize;
  readonly budget: number;
  /** Missing: it costs the list price. */
  readonly terms?: Terms | undefined;
}

/** Why something was not sent, for its callers. `what`: "The batch of 20 requests". */
function overBudget(what: string, { facts }: OverBudgetError, purse: string | undefined): string {
  const { budget, spent, underWay, estimate } = facts;
  const pending = underWay > 0 ? `, batches under way may cost ${dollars(underWay)} more` : '';
  const [whose, who, when] =
    purse === undefined
      ? ['this run', 'The run', 'running the program again']
      : [`the ${purse} (UTC)`, 'The day', 'asking again on the next day, or'];
  return (
    `${what} was not sent: it may cost ${dollars(estimate)}, and the budget of ${whose} is ` +
    `${dollars(budget)}. ${who} has spent ${dollars(spent)}${pending}. Nothing is lost: answers are kept, ` +
    `and ${when} with a larger budget goes on from here.`
  );
}
