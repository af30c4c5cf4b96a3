import type { Answer } from '../../base/types.ts';
import type { CostLabels } from '../../ledger/ledger.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import { costOf } from '../answer/answer-cost.ts';
import { deliver } from '../answer/delivery.ts';
import { withoutSecrets } from '../answer/without-secrets.ts';
import type { OrdinaryLane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { CallAttempt } from './call-attempt.ts';

/**
 * Stores an answer with its cost, and delivers it to all callers. Whatever the ledger says, the callers must hear:
 * the answer is paid for. Its own word for its tier decides about its price, in the realtime lane, too: its body may
 * have asked for flex.
 */
export async function answerAttempt(
  { ledger, owner, report }: EngineContext,
  { request, lane, spending, stream }: CallAttempt,
  given: Answer,
): Promise<void> {
  const { queue, batcher } = request;
  await loadPrices().catch((error: unknown) => report('load the list prices', error));
  const answer = withoutSecrets(asStored(given, batcher.info.requestIdHeader), queue.wire);
  const tier = batcher.flex(queue);
  const cost = costOf(queue, answer.json, tier?.hasServed(given) ? tier : undefined);
  // The cost of an answer that names no tokens is not known: its estimate goes on to count.
  if (cost?.paid !== undefined) spending?.paid(cost.paid);
  try {
    const settled = { request: request.row, is: 'answer', answer, ...(cost && { cost }) } as const;
    const isCounted = cost !== undefined || isSuccess(answer);
    const spent = isCounted ? [{ ...labelsOf(request, lane), costs: [cost] }] : [];
    await owner.run((id) => ledger.settled(id, [settled], spent));
  } finally {
    deliver(request, answer, lane, undefined, cost, stream?.isBegun ? stream.caller : undefined);
  }
}

function labelsOf({ queue, scope }: Request, lane: OrdinaryLane): CostLabels {
  const { name, tags } = scope;
  return { provider: queue.batcher.info.name, model: queue.model, lane, name, tags };
}

/** Nothing was accepted: the mark goes, and the request is ours to send as before. */
export async function wasNotAccepted(
  { ledger, owner }: EngineContext,
  { request }: CallAttempt,
  because?: 'its tier',
): Promise<void> {
  await owner.run((id) => ledger.markSent(id, [request.row], false));
  request.leaveWire(because);
}

/** The headers that callers get, and that are stored: the same as those of an answer from a batch. */
export function asStored(answer: Answer, requestIdHeader: string): Answer {
  const { 'content-type': type = 'application/json', [requestIdHeader]: id } = answer.headers;
  const headers = { 'content-type': type, ...(id !== undefined && { [requestIdHeader]: id }) };
  return { ...answer, headers };
}
