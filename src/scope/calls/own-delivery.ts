import type { Batcher } from '../../batchers/batcher.ts';
import type { BodyReader, HookedCall } from '../../hooks/border.ts';
import { answerHeaders } from '../../orchestrator/answer/answer-headers.ts';
import { type OwnReason, ownAnswer } from '../../orchestrator/answer/own-answer.ts';
import type { Delivery } from '../../orchestrator/model/call.ts';

/** An answer of ours to a call that is not sent. */
export function ownDelivery(batcher: Batcher, reason: OwnReason, message: string): Delivery {
  return { answer: ownAnswer(batcher, reason, message), source: 'batch', itemId: '' };
}

/** What the client of a call gets by an answer of ours. */
export async function deliverOwn<Result>(
  { answerWith }: Pick<HookedCall<Result>, 'answerWith'>,
  url: string,
  delivery: Delivery | Promise<Delivery>,
  reader?: BodyReader,
): Promise<Result> {
  const known = await delivery;
  return answerWith(known.answer, answerHeaders(known), url, reader);
}
