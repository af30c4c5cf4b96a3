import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Remote } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { LeaseLostError, messageOf } from '../../errors.ts';
import { sleep } from '../../http/backoff.ts';
import type { BatchId, ClaimedBatch } from '../../ledger/ledger.ts';
import type { Answer } from '../../types.ts';
import { itemId } from '../capture/fingerprint.ts';
import type { Spool } from '../capture/spool.ts';
import { cleanUp } from '../collect/clean-up.ts';
import { dissolve } from '../collect/dissolve.ts';
import { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { EngineScope, PendingRequest } from '../model/request.ts';
import type { Recovery } from '../submit/find-create.ts';
import { planOf } from '../submit/plan.ts';
import type { Governor } from '../submit/quotas.ts';
import { neverAccepted, type Protocol } from '../submit/submit-protocol.ts';
import { UnseenError } from '../submit/unseen.ts';
import { giveUpOn } from '../watch/give-up.ts';
import { underOtherKey } from '../watch/unreadable-batches.ts';
import { TooMuchError, UnwantedError } from '../watch/unwanted.ts';

/** Takes over batches that a dead or closed owner left, and brings them to an end. */
export class Resume {
  readonly #workshop: Workshop;
  readonly #recovery: Recovery;
  readonly #protocol: Protocol;
  readonly #governor: Governor;
  readonly #spool: Spool;
  readonly #caughtUp: () => Promise<void>;
  /** At once: it may have ended long ago. */
  readonly #watch: (batch: ActiveBatch) => void;

  constructor(
    workshop: Workshop,
    recovery: Recovery,
    protocol: Protocol,
    governor: Governor,
    spool: Spool,
    /** Resolves when all calls made so far have found their batch. */
    caughtUp: () => Promise<void>,
    watch: (batch: ActiveBatch) => void,
  ) {
    this.#workshop = workshop;
    this.#recovery = recovery;
    this.#protocol = protocol;
    this.#governor = governor;
    this.#spool = spool;
    this.#caughtUp = caughtUp;
    this.#watch = watch;
  }

  /** The batch, if its owner is gone and it is ours now. */
  async claim(id: BatchId, asker: PendingRequest): Promise<ActiveBatch | undefined> {
    const { ledger, owner, batches, background } = this.#workshop;
    const claimed = await ledger.claim(owner, id);
    if (claimed === undefined) return undefined;
    const batch = activate(claimed, asker);
    batches.set(id, batch);
    background(`resume batch ${batch.token}`, this.#bringToAnEnd(batch, claimed, asker.scope));
    return batch;
  }

  /** Whatever happens, who waits is told. */
  async #bringToAnEnd(
    batch: ActiveBatch,
    claimed: ClaimedBatch,
    scope: EngineScope,
  ): Promise<void> {
    try {
      // Those who asked together get on board first.
      await nextTurn();
      await this.#continue(batch, claimed, scope);
    } catch (error) {
      const { rejoin, stopped } = this.#workshop;
      if (!stopped.aborted) batch.makeRoom();
      if (error instanceof LeaseLostError) rejoin(batch);
      if (error instanceof LeaseLostError || stopped.aborted) throw error;
      await giveUpOn(this.#workshop, batch, toldInsteadOf(batch, error));
      throw error;
    }
  }

  async #continue(batch: ActiveBatch, claimed: ClaimedBatch, scope: EngineScope): Promise<void> {
    if (claimed.state === 'accepted' && claimed.remoteId !== undefined) {
      batch.remote = placeholder(claimed.remoteId);
      batch.acceptedAt = this.#workshop.clock.now() - (claimed.acceptedAge ?? 0);
      batch.holdSlot();
      await this.#governor.occupy(batch);
      rejoined(batch, claimed.acceptedAge ?? 0);
      await this.#waitForOthers(scope);
      this.#watch(batch);
      batch.outcomeIsKnown();
      return;
    }
    // By the clock of this process: the ledger says how long ago the create was.
    const since = this.#workshop.clock.now() - (claimed.creatingAge ?? 0);
    const shares = await this.#sharesAccount(batch, claimed.state, since);
    if (claimed.state === 'creating') {
      const found = shares === false ? undefined : await this.#recovery.find(batch, since);
      if (found) {
        await this.#governor.occupy(batch);
        rejoined(batch, claimed.creatingAge ?? 0);
        await this.#protocol.accept(batch, found);
        return;
      }
      if (!shares) {
        // That it is not there for this key does not mean that it is not there.
        await giveUpOn(this.#workshop, batch, underOtherKey(batch));
        return;
      }
      batch.mayBeThere = false;
      batch.resent = true;
      batch.emit('batch:resent', { ...batch.facts(), reason: neverAccepted });
    }
    const uploaded = claimed.state === 'creating' || claimed.state === 'staged';
    if (uploaded && shares && (await this.#useUpload(batch, scope))) return;
    await this.#release(batch);
  }

  /** Another key may belong to the same project or workspace. Then it sees the same files and batches. */
  #sharesAccount(
    batch: ActiveBatch,
    state: ClaimedBatch['state'],
    since: number,
  ): Promise<boolean | undefined> {
    const isAsked = batch.underOtherKey && (state === 'creating' || state === 'staged');
    if (isAsked) return this.#recovery.sharesAccount(batch, since);
    return Promise.resolve(!batch.underOtherKey);
  }

  /** Its callers ask one after another: if it has ended, they should all be there to get its answers. */
  async #waitForOthers(scope: EngineScope): Promise<void> {
    const { clock, stopped } = this.#workshop;
    const enough = new AbortController();
    const ending = AbortSignal.any([stopped, enough.signal]);
    const pause = sleep(clock, scope.poll.minimum, ending).catch(() => undefined);
    await Promise.race([this.#caughtUp(), pause]);
    enough.abort();
  }

  /** What is uploaded is not uploaded again, if all of it is still wanted. */
  async #useUpload(batch: ActiveBatch, scope: EngineScope): Promise<boolean> {
    if (!batch.batcher.canCreateFrom(batch.handle) || !(await this.#allAskedFor(batch, scope)))
      return false;
    try {
      await this.#governor.enter(batch);
      const plan = planOf(batch, [], this.#spool);
      await this.#protocol.accept(batch, await this.#protocol.create(batch, plan));
      return true;
    } catch (error) {
      // The file may be gone by now; the requests then go the usual way.
      if (!isTheBatchs(error)) throw error;
      this.#workshop.report(`use the uploaded file of batch ${batch.token}`, error);
      return false;
    }
  }

  /** The program asks again for what it asked before; quiet for a `window` means it is done. */
  async #allAskedFor(batch: ActiveBatch, scope: EngineScope): Promise<boolean> {
    const { clock, stopped } = this.#workshop;
    let before = -1;
    for (;;) {
      const asked = [...batch.members.values()].filter(
        ({ settled, pending }) => settled || (pending && !pending.settled),
      ).length;
      if (asked === batch.members.size) return true;
      if (asked === before) return false;
      before = asked;
      await sleep(clock, scope.policy.window, stopped);
    }
  }

  /** It never reached the provider: those who wait queue anew, the rest is forgotten. */
  async #release(batch: ActiveBatch): Promise<void> {
    const { ledger, background } = this.#workshop;
    await ledger.released(batch.lease);
    batch.makeRoom();
    for (const pending of await dissolve(this.#workshop, batch)) pending.queue.add(pending);
    background(`clean up after batch ${batch.token}`, cleanUp(this.#workshop, batch));
  }
}

function rejoined(batch: ActiveBatch, age: number): void {
  batch.notify({ notice: 'rejoined', ...batch.facts(), age });
}

function toldInsteadOf({ token, batcher }: ActiveBatch, error: unknown): Answer {
  if (error instanceof UnseenError) return error.answer;
  const message = messageOf(error);
  const told = `Batch ${token} of an earlier run could not be continued: ${message}`;
  return ownAnswer(batcher, 'store', told);
}

/** It was refused or is not wanted as it is; its requests may be. */
function isTheBatchs(error: unknown): boolean {
  return (
    error instanceof RefusedError || error instanceof UnwantedError || error instanceof TooMuchError
  );
}

function activate(claimed: ClaimedBatch, asker: PendingRequest): ActiveBatch {
  const batch = new ActiveBatch(claimed.token, asker.queue, claimed.lease);
  batch.handle = claimed.handle;
  batch.cursor = claimed.cursor;
  batch.mayBeThere = claimed.state === 'creating' || claimed.state === 'accepted';
  // Before anyone is attached: how often to poll is the asker's wish.
  batch.scopes.add(asker.scope);
  batch.underOtherKey = claimed.queue.account !== asker.queue.account.id;
  for (const member of claimed.members) {
    batch.members.set(itemId(member.fingerprint, member.occurrence), {
      request: member.request,
      attempt: member.attempt,
      pending: undefined,
      settled: member.settled,
    });
  }
  return batch;
}

function placeholder(id: string): Remote {
  return { id, state: 'running', raw: 'unknown', readable: false, sources: {} };
}
