import type { Concerned, Troubles } from '../model/troubles.ts';
import type { Queue } from '../queue/queue.ts';

/** People are told where requests have to wait for other batches to end. */
export function waitForRoom<T>(
  troubles: Troubles,
  concerned: Concerned,
  { batcher, model }: Queue,
  turn: Promise<T>,
  said?: string,
): Promise<T> {
  const text = () =>
    `${batcher.info.name} has no room for more of ${model} now` +
    `${said === undefined ? '' : ` (${said.slice(0, 160).replace(/\.$/, '')})`}; the rest is sent ` +
    'as soon as batches under way have ended. No attempt is used up';
  return troubles.whileWaiting(concerned, `room ${model}`, text, turn);
}

export function waitForSlot<T>(
  troubles: Troubles,
  concerned: Concerned,
  { batcher }: Queue,
  slot: Promise<T>,
  most: number,
): Promise<T> {
  const text = () =>
    `${batcher.info.name} has ${most} ${most === 1 ? 'batch' : 'batches'} under way, the most at ` +
    'once (maxInFlight); the next is sent when one of them ends';
  return troubles.whileWaiting(concerned, 'slot', text, slot);
}
