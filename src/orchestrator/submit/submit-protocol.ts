import type { BatchFailure, Plan, Remote } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { LeaseLostError, messageOf, NotSentError, UnknownOutcomeError } from '../../errors.ts';
import { orAborted, sleep } from '../../http/backoff.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { noRoomYet } from '../model/events.ts';
import { failureOf } from '../model/failures.ts';
import { Patience, waitFor } from '../model/patience.ts';
import { cancelUnwanted } from '../watch/cancel.ts';
import { giveUpOn } from '../watch/give-up.ts';
import { isUnwanted, TooMuchError, UnwantedError } from '../watch/unwanted.ts';
import type { Recovery } from './find-create.ts';
import type { Governor } from './quotas.ts';
import { UnseenError } from './unseen.ts';
import { waitForRoom } from './waits.ts';

/** Why a batch is sent again, for those who are told so. */
export const neverAccepted = 'sent again: the create was never accepted';
/** How long a create waits for another create of the same account. */
const queueForCreate = 30_000;
/** So many creates without a clear outcome, none of them to be found, and the callers are told. */
const mostUnclear = 5;
/** How long an unclear create is not waited for again. */
const unclearFor = 10 * 60_000;

/**
 * The submit protocol: staged → creating → bytes out → accepted. Only the stretch from creating to
 * accepted is dangerous: there the provider may have the batch without our knowing, so an unclear
 * outcome is looked for before anything is sent again. Who has to wait holds neither a slot nor a
 * lock meanwhile, so that no other queue waits with it.
 */
export class Protocol {
  readonly #workshop: Workshop;
  readonly #recovery: Recovery;
  readonly #governor: Governor;
  readonly #watch: (batch: ActiveBatch) => void;

  constructor(
    workshop: Workshop,
    recovery: Recovery,
    governor: Governor,
    watch: (batch: ActiveBatch) => void,
  ) {
    this.#workshop = workshop;
    this.#recovery = recovery;
    this.#governor = governor;
    this.#watch = watch;
  }

  async send(batch: ActiveBatch, plan: Plan): Promise<void> {
    batch.emit('batch:submitting', { ...batch.facts(), bytes: plan.bytes });
    if (batch.batcher.info.exactlyFindable) await this.#stage(batch, plan);
    try {
      await this.accept(batch, await this.create(batch, plan));
    } catch (error) {
      if (!(error instanceof UnseenError)) throw error;
      // Not as one that was refused: it may be accepted, so a later run has to look for it.
      await giveUpOn(this.#workshop, batch, error.answer);
    }
  }

  /** The provider has it. A ledger that cannot note it now can find it again later. */
  async accept(batch: ActiveBatch, remote: Remote): Promise<void> {
    const { ledger, clock, report, background, troubles } = this.#workshop;
    troubles.passed(batch.wire, 'send');
    batch.remote = remote;
    batch.acceptedAt = clock.now();
    batch.holdSlot();
    if (remote.state !== 'queued') batch.place?.proved();
    try {
      await ledger.accepted(batch.lease, remote);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      report(`note that batch ${batch.token} was accepted`, error);
    }
    batch.emit('batch:submitted', batch.facts());
    this.#watch(batch);
    batch.outcomeIsKnown();
    // On its own: a cancel that fails must not make of an accepted batch one that was not sent.
    if (batch.cancelRequested) {
      background(`cancel batch ${batch.token}`, cancelUnwanted(this.#workshop, batch));
    }
  }

  /** Creates a batch that is staged, or that needs no staging of its own. */
  async create(batch: ActiveBatch, plan: Plan): Promise<Remote> {
    const patience = this.#patienceFor(batch);
    for (let unclear = 0; ; ) {
      try {
        return await this.#tryToCreate(batch, plan);
      } catch (error) {
        if (error instanceof UnknownOutcomeError) {
          this.#workshop.report(`create batch ${batch.token}`, error);
          this.#workshop.troubles.met(batch, 'send', error);
          const found = await this.#recovery.find(batch);
          if (found) return found;
          batch.mayBeThere = false;
          unclear += 1;
          if (unclear === mostUnclear) throw error;
          batch.resent = true;
          batch.emit('batch:resent', { ...batch.facts(), reason: neverAccepted });
        } else {
          batch.mayBeThere = false;
          await this.#waitToCreate(batch, error, patience);
        }
      }
    }
  }

  #patienceFor({ batcher, queue }: ActiveBatch): Patience {
    return new Patience(this.#workshop.clock, batcher.limits(queue).outlives);
  }

  async #stage(batch: ActiveBatch, plan: Plan): Promise<void> {
    const { queue } = batch;
    const patience = this.#patienceFor(batch);
    for (;;) {
      try {
        batch.handle = await queue.transfer(
          () => batch.batcher.stage(batch.wire, plan),
          batch.ending.signal,
        );
        break;
      } catch (error) {
        const wait = waitFor(error, 'whatever became of it');
        if (wait === undefined || patience.isOver(wait)) throw error;
        if (patience.isCutOff(error)) throw cutOff(error);
        await this.#pause(batch, error, patience.next(wait));
      }
    }
    this.#workshop.troubles.passed(batch.wire, 'send');
    await this.#workshop.ledger.staged(batch.lease, batch.handle);
    if (isUnwanted(batch)) throw new UnwantedError(batch);
  }

  /**
   * One create. Where nothing of it is echoed, creates of an account go out one at a time, each with
   * a mark of what was there before it.
   */
  async #tryToCreate(batch: ActiveBatch, plan: Plan): Promise<Remote> {
    const { batcher, wire, queue } = batch;
    const { creates } = queue.account;
    const exact = batcher.info.exactlyFindable;
    batch.ending.signal.throwIfAborted();
    if (!exact) await creates.acquire(1, batch.ending.signal);
    try {
      if (!exact) await this.#mark(batch, plan);
      await this.#markCreating(batch, !exact);
      return await batcher.create(wire, plan, batch.handle);
    } finally {
      if (!exact) creates.release();
    }
  }

  async #mark(batch: ActiveBatch, plan: Plan): Promise<void> {
    try {
      batch.handle = await batch.batcher.stage(batch.wire, plan);
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      throw new NotSentError('The batches of the account could not be read.', error);
    }
    await this.#workshop.ledger.staged(batch.lease, batch.handle);
    if (isUnwanted(batch)) throw new UnwantedError(batch);
  }

  /** Another process may be creating for the same account; after a while we go on regardless. */
  async #markCreating(batch: ActiveBatch, alone: boolean): Promise<void> {
    const { ledger, clock } = this.#workshop;
    const { account } = batch.queue;
    const until = clock.now() + queueForCreate;
    batch.ending.signal.throwIfAborted();
    batch.mayBeThere = true;
    for (;;) {
      const now = clock.now();
      if (now >= until) account.unclearUntil = now + unclearFor;
      const wait = alone && now >= account.unclearUntil;
      if (await ledger.creating(batch.lease, batch.handle, { alone: wait })) return;
      await sleep(clock, 100, batch.ending.signal);
    }
  }

  async #waitToCreate(batch: ActiveBatch, error: unknown, patience: Patience): Promise<void> {
    const wait = waitFor(error, 'if it had no effect');
    if (wait === undefined) throw error;
    if (patience.isCutOff(error)) throw cutOff(error);
    const failure = error instanceof RefusedError ? failureOf(error) : undefined;
    if (failure?.meaning === 'full') {
      if (batch.place?.isHopeless(batch.members.size)) throw error;
      await this.#waitForRoom(batch, failure);
      return;
    }
    if (patience.isOver(wait)) throw error;
    await this.#pause(batch, error, patience.next(wait));
  }

  async #pause(batch: ActiveBatch, error: unknown, milliseconds: number): Promise<void> {
    this.#workshop.report(`send batch ${batch.token}`, error);
    this.#workshop.troubles.met(batch, 'send', error);
    batch.freeSlot();
    await sleep(this.#workshop.clock, milliseconds, batch.ending.signal);
    await batch.takeSlot();
    if (isUnwanted(batch)) throw new UnwantedError(batch);
  }

  /** Nothing was accepted, so a crash now leaves nothing to look for. */
  async #waitForRoom(batch: ActiveBatch, failure: BatchFailure): Promise<void> {
    const { ledger, report } = this.#workshop;
    await ledger.staged(batch.lease, batch.handle);
    report(`send batch ${batch.token}`, new Error(failure.message));
    batch.emit('batch:resent', { ...batch.facts(), reason: `${noRoomYet}: ${failure.message}` });
    batch.freeSlot();
    const room = await this.#governor.room(batch.queue);
    const { tokens = 0, first, count } = batch.place ?? {};
    batch.place?.refused(failure);
    batch.place = room.join(tokens, first, count);
    const turn = orAborted(batch.place.turn, batch.ending.signal);
    await waitForRoom(this.#workshop.troubles, batch, batch.queue, turn, failure.message);
    if (isUnwanted(batch)) throw new UnwantedError(batch);
    if (tokens > room.limit && batch.members.size > 1) throw new TooMuchError(batch);
    await batch.takeSlot();
  }
}

/** Nothing was accepted, so it may go in halves. */
function cutOff(error: unknown): RefusedError {
  const message = `The batch was cut off half-way, again and again: ${messageOf(error)}`;
  return new RefusedError({ code: 'cut_off', message, meaning: 'refused', next: 'smaller' });
}
