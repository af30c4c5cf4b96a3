import { messageOf, OverBudgetError } from '../../base/errors.ts';
import { dollars } from '../../pricing/dollars.ts';
import { refuseRequests } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import type { Spending } from '../model/spending.ts';
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
  const what = `A batch of ${length} request${length === 1 ? '' : 's'}`;
  const message = overBudget(what, error, context.purse());
  requests[0]?.scope.emit('notice', { notice: 'hint', text: message });
  return refuseRequests(context, requests, ({ batcher }) => ownAnswer(batcher, 'budget', message));
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

/** The part that a realtime call of ours has in the budget of its run. */
export function realtimeSpending(
  { ledger, owner, background, purse }: EngineContext,
  estimates: Estimates,
  { queue, size, budget }: { queue: RequestQueue; size: RequestSize; budget: number },
): Spending {
  let reserved = 0;
  let from: string | undefined;
  return {
    async reserve() {
      try {
        const estimate = (await estimates.most(queue, [size])) ?? 0;
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
