import type { BatchFailure } from '../../batchers/batcher.ts';
import { messageOf } from '../../errors.ts';
import type { Answer } from '../../types.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { noRoomYet } from '../model/events.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { PendingRequest } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import { accusedBy } from './bad-lines.ts';
import { refuse } from './delivery.ts';
import { dissolve } from './dissolve.ts';

type Send = (queue: Queue, requests: readonly PendingRequest[]) => void;

/**
 * Batches that the provider refused as a whole, at once or after it had taken them. Nothing of them
 * ran. Waiting for room uses up no attempt; one bad line does not take the others with it.
 */
export class Refusals {
  readonly #workshop: Workshop;
  readonly #send: Send;

  constructor(workshop: Workshop, send: Send) {
    this.#workshop = workshop;
    this.#send = send;
  }

  /**
   * The ledger knows already that the batch is over, unless there was `trouble` with it: then nothing
   * can be planned anew, and who was at no fault is told of the trouble.
   */
  async handle(batch: ActiveBatch, failure: BatchFailure, trouble?: unknown): Promise<void> {
    const members = [...batch.members.values()];
    const requests = await dissolve(this.#workshop, batch);
    if (failure.next === 'later') batch.place?.refused(failure);
    else batch.makeRoom();
    const isHopeless = batch.place?.isHopeless(requests.length) ?? false;
    if (requests.length === 0) return;
    const { proved, suspects } = accusedBy(failure.bad ?? [], members.length);
    const place = new Map(members.map(({ request }, at) => [request, at]));
    const placeOf = ({ request }: PendingRequest) => place.get(request) as number;
    if (trouble !== undefined && failure.next !== 'fail' && proved.size === 0) {
      const message = `The batch could not be sent again: ${messageOf(trouble)}`;
      await this.#fail(requests, ({ batcher }) => ownAnswer(batcher, 'store', message));
    } else if (failure.next === 'later' && !isHopeless) {
      this.#again(batch, [requests], `${noRoomYet}: ${failure.message}`);
    } else if (failure.next === 'smaller' && requests.length > 1) {
      const half = Math.ceil(requests.length / 2);
      const halves = [requests.slice(0, half), requests.slice(half)];
      this.#again(batch, halves, `sent in halves: ${failure.message}`);
    } else if (failure.next === 'isolate' && suspects.length > 0) {
      const groups = suspects.map((places) => requests.filter((one) => places.has(placeOf(one))));
      const rest = requests.filter((one) => !suspects.some((places) => places.has(placeOf(one))));
      const reason = `sent again, its bad lines by themselves: ${failure.message}`;
      this.#again(batch, [...groups, rest], reason);
    } else {
      await this.#fail(requests, (pending) => {
        const told = proved.get(placeOf(pending)) ?? failure.answer;
        return told ?? ownAnswer(pending.batcher, 'missing', failure.message);
      });
    }
  }

  #again(batch: ActiveBatch, groups: readonly (readonly PendingRequest[])[], reason: string): void {
    batch.emit('batch:resent', { ...batch.facts(), reason });
    for (const group of groups) if (group.length > 0) this.#send(batch.queue, group);
  }

  #fail(
    requests: readonly PendingRequest[],
    answerFor: (pending: PendingRequest) => Answer,
  ): Promise<void> {
    const { ledger, owner } = this.#workshop;
    return refuse(ledger, owner, requests, answerFor);
  }
}
