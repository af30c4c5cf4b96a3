import { BatchlingError, LeaseLostError, messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { deliver, letGoUnbatched, refuseRequests } from '../answer/delivery.ts';
import { type OwnReason, ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import { batchNews, sendNews } from '../model/batch-news.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { TooMuchError, UnwantedError } from '../model/unwanted.ts';
import { afterRefusal } from './after-refusal.ts';
import { dissolve } from './dissolve.ts';

/** Where requests go whose batch brings them no answer. */
interface RequestRoutes {
  /** They are packed and sent anew. */
  send(queue: RequestQueue, requests: readonly Request[]): void;
  /** They are in no batch and will be in none. */
  withdraw(requests: readonly Request[]): void;
  /** Their time is up. */
  endDue(callers: readonly Caller[]): Promise<void>;
  /** Another owner works on them. */
  follow(request: Request): void;
}

/** The part of a permit that an ending needs. */
interface EndingPermit {
  freeSlot(): void;
  refused(failure: BatchFailure): void;
  isHopeless(count: number): boolean;
}

/** The one way to end a batch: the ledger knows first, then the callers, except for a batch that is given up. */
export class BatchEndings {
  readonly #context: EngineContext;
  readonly #routes: RequestRoutes;
  /** Why batches of a queue fail, as people know it: a job may have hundreds of them. Forgotten with the next answers. */
  readonly #told = new WeakMap<RequestQueue, string>();

  constructor(context: EngineContext, routes: RequestRoutes) {
    this.#context = context;
    this.#routes = routes;
  }

  async end(batch: Batch, permit: EndingPermit, end: BatchEnd): Promise<void> {
    const { stopped, background } = this.#context;
    if (end.is === 'stopped' || stopped.aborted) return;
    if (end.is === 'given up') return this.#giveUp(batch, end.answer);
    if (end.is === 'lost') return this.#follow(batch);
    if (end.is === 'collected') {
      this.#told.delete(batch.queue);
      this.#forget(batch);
    }
    // Another owner has it, or a later run is to have it: they may need the file.
    else if (!(await this.#endWithoutAnswers(batch, permit, end))) return;
    background(`clean up after batch ${batch.token}`, cleanUp(this.#context, batch));
  }

  /** From here on nobody is attached to it. */
  #forget(batch: Batch): void {
    this.#context.batches.delete(batch.lease.batch);
    batch.moveTo({ name: 'over', remote: batch.remote });
  }

  /** Whether it is over for good. */
  async #endWithoutAnswers(
    batch: Batch,
    permit: EndingPermit,
    end: Extract<BatchEnd, { is: 'refused' | 'unsent' | 'released' | 'gone' }>,
  ): Promise<boolean> {
    if (end.is === 'gone') {
      batch.emit('batch:resent', { ...batch.facts(), reason: `sent again: ${gone}`, gone: true });
    }
    let ledgerError: unknown;
    try {
      await this.#note(batch, end);
    } catch (error) {
      if (error instanceof LeaseLostError) {
        this.#follow(batch);
        return false;
      }
      this.#context.report(`note that batch ${batch.token} is over`, error);
      ledgerError = error;
    }
    const isQueuedAnew = end.is === 'gone' || end.is === 'released';
    if (isQueuedAnew && ledgerError !== undefined) {
      // Nothing can be planned anew: to the ledger these requests are still under way.
      const message = `Batch ${batch.token} could not be sent again: ${messageOf(ledgerError)}`;
      await this.#giveUp(batch, ownAnswer(batch.batcher, 'store', message));
      return false;
    }
    const wasAccepted = batch.remote !== undefined;
    if (end.is === 'refused' && wasAccepted) {
      announceRefusal(batch, end.failure, this.#context.clock.now());
    }
    this.#forget(batch);
    permit.freeSlot();
    const requests = await dissolve(this.#context, batch);
    if (end.is === 'refused') {
      await this.#refused(batch, permit, requests, end.failure, ledgerError);
    } else if (end.is === 'unsent') {
      await this.#unsent(batch, requests, end.error, ledgerError);
    } else {
      for (const request of requests) request.queue.add(request);
    }
    return true;
  }

  #note(
    batch: Batch,
    end: Extract<BatchEnd, { is: 'refused' | 'unsent' | 'released' | 'gone' }>,
  ): Promise<void> {
    const { ledger } = this.#context;
    const { lease, remote } = batch;
    if (end.is === 'released') return ledger.released(lease);
    if (end.is === 'gone') return ledger.refused(lease, gone);
    if (end.is === 'unsent') return ledger.refused(lease, messageOf(end.error));
    const { code, message } = end.failure;
    return remote === undefined
      ? ledger.refused(lease, message)
      : ledger.ended(lease, `${code}: ${message}`);
  }

  async #refused(
    batch: Batch,
    permit: EndingPermit,
    requests: readonly Request[],
    failure: BatchFailure,
    ledgerError: unknown,
  ): Promise<void> {
    if (failure.next === 'later') permit.refused(failure);
    if (requests.length === 0) return;
    if (failure.meaning === 'unserved' && batch.queue.mayBeUnserved) {
      await this.#unserved(batch.queue, requests, failure);
      return;
    }
    const lines = [...batch.members.values()].map(({ row }) => row);
    const isHopeless = permit.isHopeless(requests.length);
    const after = afterRefusal({ failure, lines, requests, isHopeless, ledgerError });
    if ('answerFor' in after) {
      const why = `${failure.code}: ${failure.message}`;
      if (this.#told.get(batch.queue) !== why) {
        this.#told.set(batch.queue, why);
        batch.emit('notice', { notice: 'hint', text: `${batch.token} failed: ${why}` });
      }
      await this.#tellFailure(batch, why);
      await refuseRequests(this.#context, requests, after.answerFor);
      return;
    }
    batch.emit('batch:resent', { ...batch.facts(), reason: after.reason });
    for (const group of after.again) if (group.length > 0) this.#routes.send(batch.queue, group);
  }

  /**
   * A server of the user's choice that has no batch API: these calls, and all later ones, take the lane of ordinary
   * calls, unless the user wants an error for calls that are not batched.
   */
  #unserved(
    queue: RequestQueue,
    requests: readonly Request[],
    { message }: BatchFailure,
  ): Promise<void> {
    const { account, wire } = queue;
    const what = `the server at ${wire.base} has no batch API (${message.replace(/\.$/, '')})`;
    const reason = `${what}; take it out of the option hosts if it is to have none`;
    const [mine, refused] = [true, false].map((may) =>
      requests.filter(({ scope }) => scope.mayGoUnbatched === may),
    ) as [Request[], Request[]];
    if (account.unserved === undefined && mine[0]) {
      const text = `${what}: its calls go out one by one, as with lane: "realtime"`;
      this.#context.logger.warn(text);
      mine[0].scope.emit('notice', { notice: 'hint', text });
    }
    account.unserved = reason;
    this.#routes.withdraw(refused);
    for (const request of mine) queue.add(request);
    return letGoUnbatched(refused, reason);
  }

  async #unsent(
    batch: Batch,
    requests: readonly Request[],
    error: unknown,
    ledgerError: unknown,
  ): Promise<void> {
    let left = requests;
    if (error instanceof UnwantedError) {
      const callers = requests.flatMap(({ waiting }) => waiting);
      await this.#routes.endDue(callers.filter(({ isDue }) => isDue));
      // A caller that has asked for one of them since has time left.
      left = requests.filter(({ isWaitedFor }) => isWaitedFor);
      if (left.length === 0) return;
    }
    const isWhole = error instanceof UnwantedError || error instanceof TooMuchError;
    if (isWhole && ledgerError === undefined) this.#routes.send(batch.queue, left);
    else {
      await this.#tellFailure(batch, messageOf(ledgerError ?? error));
      await refuseUnsent(this.#context, left, ledgerError ?? error);
    }
  }

  /**
   * The callers are told. The batch stays in the ledger, where it belongs to nobody: another process, or a
   * later call of this one, may have more luck with it.
   */
  async #giveUp(batch: Batch, answer: Answer): Promise<void> {
    const { ledger, logger, batches, report } = this.#context;
    logger.error(`batchling gave up on batch ${batch.token}`, { body: answer.body });
    batch.emit('notice', { notice: 'gave-up', ...batch.facts() });
    await this.#tellFailure(batch, 'batchling gave up on it for now; it stays in the ledger');
    batch.moveTo({ name: 'over', remote: batch.remote, answer });
    for (const { request } of batch.members.values()) {
      if (request === undefined) continue;
      deliver(request, answer, 'batch', batch.token);
    }
    try {
      await ledger.giveBack(batch.lease);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) {
        report(`give batch ${batch.token} back`, error);
        return;
      }
    }
    batches.delete(batch.lease.batch);
  }

  /** Before its callers hear of it: a program that is told may end. A ledger that cannot note it delays nobody. */
  async #tellFailure(batch: Batch, failure: string): Promise<void> {
    const { mailbox, report } = this.#context;
    const news = batchNews(this.#context, batch, 'batch.failed', { failure });
    await mailbox.post(news).catch((error: unknown) => report('write to its outbox', error));
    sendNews(this.#context, batch);
  }

  #follow(batch: Batch): void {
    // This comes before they look for it again: here it is no longer to be found.
    this.#forget(batch);
    for (const member of batch.members.values()) {
      const { request, isSettled } = member;
      if (!request || isSettled) continue;
      member.request = undefined;
      request.leaveBatch();
      if (request.isWaitedFor) this.#routes.follow(request);
      else request.end();
    }
  }
}

const gone = 'the provider no longer knows it';

function announceRefusal(batch: Batch, { code }: BatchFailure, now: number): void {
  const status = `${batch.remote?.raw}: ${code}`;
  batch.emit('batch:ended', { ...batch.facts(), ...batch.history(now), status, failure: code });
}

/** Tells the callers of requests that could not be sent why. */
export function refuseUnsent(
  context: EngineContext,
  requests: readonly Request[],
  error: unknown,
  reason: OwnReason = isStoreError(error) ? 'store' : 'missing',
): Promise<void> {
  const message = `The batch could not be sent: ${messageOf(error)}`;
  return refuseRequests(context, requests, ({ batcher }) => ownAnswer(batcher, reason, message));
}

function isStoreError(error: unknown): boolean {
  return BatchlingError.isInstance(error) && error.code === 'STORE_UNUSABLE';
}

/** Deletes what a batch left at the provider, unless one of its scopes wants to keep it. */
async function cleanUp({ report }: EngineContext, batch: Batch): Promise<void> {
  for (const { cleanup } of batch.scopes) if (!cleanup) return;
  try {
    await batch.batcher.cleanup(batch.wire, batch.handle);
  } catch (error) {
    report(`delete the input file of batch ${batch.token}`, error);
  }
}
