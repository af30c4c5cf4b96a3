import { messageOf, OverBudgetError } from '../../errors.ts';
import { dollars } from '../../pricing/dollars.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Spending } from '../model/spending.ts';
import { refuseRequests } from './delivery.ts';
import type { Estimates, RequestSize } from './estimates.ts';

/**
 * Ends requests whose batch the budget has no room for. All of them: which part of a batch would fit is
 * an estimate on top of estimates.
 */
export function refuseOverBudget(
  context: EngineContext,
  requests: readonly Request[],
  error: OverBudgetError,
): Promise<void> {
  const { length } = requests;
  const message = overBudget(`A batch of ${length} request${length === 1 ? '' : 's'}`, error);
  requests[0]?.scope.notify({ notice: 'hint', text: message });
  return refuseRequests(context, requests, ({ batcher }) => ownAnswer(batcher, 'budget', message));
}

/** Why something was not sent, for its callers. `what`: "The batch of 20 requests". */
function overBudget(what: string, { facts }: OverBudgetError): string {
  const { budget, spent, underWay, estimate } = facts;
  const pending = underWay > 0 ? `, batches under way may cost ${dollars(underWay)} more` : '';
  return (
    `${what} was not sent: it may cost ${dollars(estimate)}, and the budget of this run is ` +
    `${dollars(budget)}. The run has spent ${dollars(spent)}${pending}. Nothing is lost: answers are kept, ` +
    'and running the program again with a larger budget goes on from here.'
  );
}

/** The part that a realtime call of ours has in the budget of its run. */
export function realtimeSpending(
  { ledger, owner, background }: EngineContext,
  estimates: Estimates,
  { queue, size, budget }: { queue: RequestQueue; size: RequestSize; budget: number },
): Spending {
  let reserved = 0;
  return {
    async reserve() {
      try {
        const estimate = (await estimates.most(queue, [size])) ?? 0;
        await owner.run((id) => ledger.spend(id, estimate, budget));
        reserved = estimate;
        return undefined;
      } catch (error) {
        if (error instanceof OverBudgetError) return overBudget('The call', error);
        return `The call was not sent: the budget could not be checked: ${messageOf(error)}`;
      }
    },
    paid(actual) {
      const rest = actual - reserved;
      if (rest === 0) return;
      reserved = actual;
      background(
        'write down what a realtime call has cost',
        owner.run((id) => ledger.spend(id, rest)),
      );
    },
  };
}
