import { LeaseLostError, messageOf, NotSentError, UnknownOutcomeError } from '../../base/errors.ts';
import type { Handle } from '../../base/types.ts';
import type { BatchFailure, Plan, Remote } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { Patience, type Wait } from '../../concurrency/patience.ts';
import { noRoomYet } from '../events/events.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { failureOf } from '../model/failure-of.ts';
import { TooMuchError, UnwantedError } from '../model/unwanted.ts';
import { waitFor } from '../model/wait-for.ts';
import { cancelIfAskedFor } from '../watch/cancel-batch.ts';
import type { CreateFinder } from './find-create.ts';
import type { Permit } from './permit.ts';
import { type DoneStep, timedStep } from './timed-step.ts';

/** Why a batch is sent again, as people are told. */
export const neverAccepted = 'sent again: the create was never accepted';
/** How long a create waits for another create of the same account. */
const queueForCreate = 30_000;
/** How long the ledger is not asked again meanwhile, at most. */
const longestLook = 2_000;
/** Give up after this many creates whose outcome stayed unknown. */
const mostUnclear = 5;
/** How long an unclear create is not waited for again. */
const unclearFor = 10 * 60_000;

/**
 * The submit protocol: staged → creating → bytes out → accepted. Only the stretch from creating to
 * accepted is dangerous: there the provider may have the batch without our knowing, so an unclear outcome
 * is looked for before anything is sent again. A batch that has to wait holds neither a slot nor a lock
 * meanwhile, so that no other queue waits with it.
 */
export class SubmitProtocol {
  readonly #context: EngineContext;
  readonly #finder: CreateFinder;

  constructor(context: EngineContext, finder: CreateFinder) {
    this.#context = context;
    this.#finder = finder;
  }

  async send(batch: Batch, permit: Permit, plan: Plan): Promise<void> {
    batch.emit('batch:submitting', { ...batch.facts(), bytes: plan.bytes });
    if (batch.batcher.info.exactlyFindable) await this.#stage(batch, permit, plan);
    await this.create(batch, permit, plan);
  }

  /** The provider has it. A ledger that cannot note it now can find it again later. */
  async accept(batch: Batch, permit: Permit, remote: Remote): Promise<void> {
    const { ledger, clock, report, troubles } = this.#context;
    troubles.passed(batch.wire, 'send');
    batch.queue.account.hasServed = true;
    batch.moveTo({ name: 'running', remote, acceptedAt: clock.now() });
    permit.occupy();
    if (remote.state !== 'queued') permit.proved();
    try {
      await ledger.accepted(batch.lease, remote);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      report(`note that batch ${batch.token} was accepted`, error);
    }
    batch.emit('batch:submitted', batch.facts());
    cancelIfAskedFor(this.#context, batch);
  }

  /** Creates a batch that is staged, or that needs no staging of its own. */
  async create(batch: Batch, permit: Permit, plan: Plan): Promise<void> {
    const patience = this.#patienceFor(batch);
    for (let unclear = 0; ; ) {
      try {
        const { result, tell } = await this.#tryToCreate(batch, plan);
        await this.accept(batch, permit, result);
        tell();
        return;
      } catch (error) {
        if (batch.phase.name === 'running') throw error;
        if (!(error instanceof UnknownOutcomeError)) {
          if (batch.phase.name === 'creating') batch.moveTo({ name: 'planned' });
          await this.#waitToCreate(batch, permit, error, patience);
          continue;
        }
        this.#context.report(`create batch ${batch.token}`, error);
        this.#context.troubles.met(batch, 'send', error);
        const found = await this.#finder.find(batch);
        if (found) {
          await this.accept(batch, permit, found);
          return;
        }
        unclear += 1;
        if (unclear === mostUnclear) throw error;
        batch.createWasLost(neverAccepted);
      }
    }
  }

  #patienceFor({ queue }: Batch): Patience {
    return new Patience(this.#context.clock, queue.limits.outlives);
  }

  async #stage(batch: Batch, permit: Permit, plan: Plan): Promise<void> {
    const { batcher, wire, queue, ending } = batch;
    const { clock } = this.#context;
    const patience = this.#patienceFor(batch);
    const upload = () => timedStep(clock, batch, 'upload', () => batcher.stage(wire, plan));
    let done: DoneStep<Handle>;
    for (;;) {
      try {
        done = await queue.transfer(upload, ending.signal);
        batch.staged(done.result);
        break;
      } catch (error) {
        const wait = waitFor(error, 'whatever became of it');
        if (wait === undefined || patience.isOver(wait)) throw error;
        if (patience.isCutOff(error)) throw cutOff(error);
        await this.#pause(batch, permit, error, patience, wait);
      }
    }
    this.#context.troubles.passed(wire, 'send');
    await this.#context.ledger.staged(batch.lease, batch.handle);
    // Requests that travel in the create have no upload.
    if (batcher.canCreateFrom(batch.handle)) done.tell();
    assertWanted(batch);
  }

  /**
   * One create. Where nothing of it is echoed, creates of an account go out one at a time, each with a mark
   * of what was there before it.
   */
  async #tryToCreate(batch: Batch, plan: Plan): Promise<DoneStep<Remote>> {
    const { batcher, wire, queue, ending } = batch;
    const { creates } = queue.account;
    const isExact = batcher.info.exactlyFindable;
    ending.signal.throwIfAborted();
    if (!isExact) await creates.acquire(1, ending.signal);
    try {
      if (!isExact) await this.#mark(batch, plan);
      await this.#markCreating(batch, !isExact);
      const { clock } = this.#context;
      const create = () => batcher.create(wire, plan, batch.handle);
      return await timedStep(clock, batch, 'create', create);
    } finally {
      if (!isExact) creates.release();
    }
  }

  async #mark(batch: Batch, plan: Plan): Promise<void> {
    try {
      batch.staged(await batch.batcher.stage(batch.wire, plan));
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      throw new NotSentError('The batches of the account could not be read.', error);
    }
    await this.#context.ledger.staged(batch.lease, batch.handle);
    assertWanted(batch);
  }

  /** Another process may be creating for the same account; after a while we go on regardless. */
  async #markCreating(batch: Batch, isAlone: boolean): Promise<void> {
    const { ledger, clock } = this.#context;
    const { account } = batch.queue;
    const until = clock.now() + queueForCreate;
    batch.ending.signal.throwIfAborted();
    batch.moveTo({ name: 'creating' });
    for (let pause = 100; ; pause = Math.min(pause * 1.5, longestLook)) {
      const now = clock.now();
      if (now >= until) account.unclearUntil = now + unclearFor;
      const alone = isAlone && now >= account.unclearUntil;
      if (await ledger.creating(batch.lease, batch.handle, { alone })) return;
      await sleep(clock, pause, batch.ending.signal);
    }
  }

  async #waitToCreate(
    batch: Batch,
    permit: Permit,
    error: unknown,
    patience: Patience,
  ): Promise<void> {
    const wait = waitFor(error, 'if it had no effect');
    if (wait === undefined) throw error;
    if (patience.isCutOff(error)) throw cutOff(error);
    const failure = error instanceof RefusedError ? failureOf(error) : undefined;
    if (failure?.meaning === 'full') {
      if (permit.isHopeless(batch.members.size)) throw error;
      await this.#waitForRoom(batch, permit, failure);
      return;
    }
    if (patience.isOver(wait)) throw error;
    await this.#pause(batch, permit, error, patience, wait);
  }

  async #pause(
    batch: Batch,
    permit: Permit,
    error: unknown,
    patience: Patience,
    wait: Wait,
  ): Promise<void> {
    const { clock, report, stopped, troubles } = this.#context;
    // The engine goes down and has cut it off.
    if (stopped.aborted) throw error;
    report(`send batch ${batch.token}`, error);
    troubles.met(batch, 'send', error);
    permit.freeSlot();
    await sleep(clock, patience.next(wait), batch.ending.signal);
    const readyAt = clock.now();
    await permit.takeSlot(batch.ending.signal);
    // Other batches may have had the slot for hours.
    patience.excuse(clock.now() - readyAt);
    assertWanted(batch);
  }

  /** Nothing was accepted, so a crash now leaves nothing to look for. */
  async #waitForRoom(batch: Batch, permit: Permit, failure: BatchFailure): Promise<void> {
    const { ledger, report } = this.#context;
    await ledger.staged(batch.lease, batch.handle);
    report(`send batch ${batch.token}`, new Error(failure.message));
    batch.emit('batch:resent', { ...batch.facts(), reason: `${noRoomYet}: ${failure.message}` });
    permit.refused(failure);
    await permit.acquire(batch.ending.signal, failure.message);
    assertWanted(batch);
    if (permit.isTooMuch) throw new TooMuchError(batch);
  }
}

function assertWanted(batch: Batch): void {
  if (!batch.isWanted) throw new UnwantedError(batch);
}

/** Nothing was accepted, so it may go in halves. */
function cutOff(error: unknown): RefusedError {
  const message = `The batch was cut off half-way, again and again: ${messageOf(error)}`;
  return new RefusedError({ code: 'cut_off', message, meaning: 'refused', next: 'smaller' });
}
