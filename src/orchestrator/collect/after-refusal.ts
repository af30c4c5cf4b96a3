import { messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import { noRoomYet } from '../events/events.ts';
import type { Request } from '../model/request.ts';
import { accusedBy } from './bad-lines.ts';

/** What becomes of the requests of a refused batch: batches of their own, or an answer for each. */
export type AfterRefusal =
  | { readonly again: readonly (readonly Request[])[]; readonly reason: string }
  | { readonly answerFor: (request: Request) => Answer };

export interface Refusal {
  readonly failure: BatchFailure;
  /** The rows of the ledger in the order of the lines. */
  readonly lines: readonly number[];
  /** Its requests that are waited for. */
  readonly requests: readonly Request[];
  /** Waiting for room is of no use. */
  readonly isHopeless: boolean;
  /** The ledger could not note the refusal, so that nothing can be planned anew. */
  readonly ledgerError: unknown;
}

/**
 * A batch that the provider refused as a whole, at once or after it had taken it. Nothing of it ran.
 * Waiting for room uses up no attempt; one bad line does not take the others with it.
 */
export function afterRefusal(refusal: Refusal): AfterRefusal {
  const { failure, lines, requests, isHopeless, ledgerError } = refusal;
  const { next, message } = failure;
  const { proved, suspects } = accusedBy(failure.bad ?? [], lines.length);
  const places = new Map(lines.map((row, place) => [row, place]));
  const placeOf = ({ row }: Request) => places.get(row) as number;
  if (ledgerError !== undefined && next !== 'fail' && proved.size === 0) {
    const told = `The batch could not be sent again: ${messageOf(ledgerError)}`;
    return { answerFor: ({ batcher }) => ownAnswer(batcher, 'store', told) };
  }
  if (next === 'later' && !isHopeless) {
    return { again: [requests], reason: `${noRoomYet}: ${message}` };
  }
  if (next === 'smaller' && requests.length > 1) {
    const half = Math.ceil(requests.length / 2);
    const again = [requests.slice(0, half), requests.slice(half)];
    return { again, reason: `sent in halves: ${message}` };
  }
  if (next === 'isolate' && suspects.length > 0) {
    const groups = suspects.map((group) => requests.filter((one) => group.has(placeOf(one))));
    const rest = requests.filter((one) => !suspects.some((group) => group.has(placeOf(one))));
    const reason = `sent again, its bad lines by themselves: ${message}`;
    return { again: [...groups, rest], reason };
  }
  return {
    answerFor: (request) => {
      const told = proved.get(placeOf(request)) ?? failure.answer;
      return told ?? ownAnswer(request.batcher, 'missing', message);
    },
  };
}
