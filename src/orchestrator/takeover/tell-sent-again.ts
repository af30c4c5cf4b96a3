import { factsOf, onTheWire, tell } from '../events/events.ts';
import type { Request } from '../model/request.ts';

/** Tells of a request that was on the wire as an ordinary call when its owner died: it may be paid for twice. */
export function tellSentAgain({ queue, scope, attempt }: Request): void {
  const facts = factsOf(queue.batcher, queue);
  tell(scope.emit, 'request:retried', { ...facts, attempt: attempt + 2, reason: onTheWire });
}
