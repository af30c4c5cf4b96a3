import type { Remote } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { nextTurn } from '../../concurrency/event-loop.ts';
import type { BatchId, ClaimedBatch } from '../../ledger/ledger.ts';
import { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';
import type { EngineScope } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { TooMuchError, UnwantedError } from '../model/unwanted.ts';
import type { BatchLife } from '../submit/batch-life.ts';
import type { CreateFinder } from '../submit/find-create.ts';
import { enterBatches } from '../submit/new-batch.ts';
import type { Permit, Permits } from '../submit/permit.ts';
import { planOf } from '../submit/plan.ts';
import { neverAccepted, type SubmitProtocol } from '../submit/submit-protocol.ts';
import type { TokenQuota } from '../submit/token-quota.ts';
import { notContinued, underOtherKey } from '../watch/given-up.ts';

interface TakeoverServices {
  readonly finder: CreateFinder;
  readonly protocol: SubmitProtocol;
  readonly permits: Permits;
  readonly life: BatchLife;
  /** Resolves when all calls made so far have found their batch. */
  caughtUp(): Promise<void>;
}

/** Where a batch that is taken over lives on: the queue of a request that asks for it, or a queue made anew. */
export interface Successor {
  readonly queue: RequestQueue;
  readonly scope: EngineScope;
}

/** Takes over batches that a dead or closed owner left, and brings them to an end. */
export class Takeover {
  readonly #context: EngineContext;
  readonly #services: TakeoverServices;

  constructor(context: EngineContext, services: TakeoverServices) {
    this.#context = context;
    this.#services = services;
  }

  /** The batch, if its owner is gone and it is ours now. */
  async claim(id: BatchId, successor: Successor): Promise<Batch | undefined> {
    const { ledger, owner, background, clock } = this.#context;
    const quota = await this.#services.permits.quotaOf(successor.queue);
    const claimed = await owner.run((self) => ledger.claim(self, id));
    if (claimed === undefined) return undefined;
    const batch = activate(claimed, successor, clock.now());
    enterBatches(this.#context, batch);
    background(`resume batch ${batch.token}`, this.#live(batch, quota, claimed, successor.scope));
    return batch;
  }

  async #live(
    batch: Batch,
    quota: TokenQuota,
    claimed: ClaimedBatch,
    scope: EngineScope,
  ): Promise<void> {
    const permit = this.#services.permits.newPermit(quota, {
      queue: batch.queue,
      // The more callers have asked again, the better it is known.
      get tokens() {
        return tokensOf(batch);
      },
      get first() {
        return firstOf(batch);
      },
      count: batch.members.size,
      scopes: () => batch.scopes,
    });
    // The callers that asked together are attached first.
    await nextTurn();
    await this.#services.life.live(batch, permit, {
      isOld: true,
      endFor: (error) => notContinued(batch, error),
      submitted: this.#continue(batch, permit, claimed, scope),
    });
  }

  async #continue(
    batch: Batch,
    permit: Permit,
    claimed: ClaimedBatch,
    scope: EngineScope,
  ): Promise<BatchEnd | undefined> {
    const { phase } = batch;
    const { finder, protocol } = this.#services;
    if (phase.name === 'running') {
      permit.occupy();
      tellRejoined(batch, claimed.acceptedAge ?? 0);
      await this.#waitForOthers(scope);
      return undefined;
    }
    // The ledger says how long ago the create was, so this is by the clock of this process.
    const since = this.#context.clock.now() - (claimed.creatingAge ?? 0);
    const shares = await this.#sharesAccount(batch, claimed, since);
    if (claimed.state === 'creating') {
      const found = shares === false ? undefined : await finder.find(batch, since);
      if (found) {
        tellRejoined(batch, claimed.creatingAge ?? 0);
        await protocol.accept(batch, permit, found);
        return undefined;
      }
      // That it is not there for this key does not mean that it is not there.
      if (!shares) return underOtherKey(batch);
      batch.createWasLost(neverAccepted);
    }
    const isUploaded = claimed.state === 'creating' || claimed.state === 'staged';
    if (isUploaded && shares && (await this.#useUpload(batch, permit, scope))) return undefined;
    return { is: 'released' };
  }

  /** Another key may belong to the same project or workspace. Then it sees the same files and batches. */
  #sharesAccount(
    batch: Batch,
    { state }: ClaimedBatch,
    since: number,
  ): Promise<boolean | undefined> {
    const { isUnderOtherKey } = batch.origin;
    const isAsked = isUnderOtherKey && (state === 'creating' || state === 'staged');
    if (isAsked) return this.#services.finder.sharesAccount(batch, since);
    return Promise.resolve(!isUnderOtherKey);
  }

  /** Its callers ask one after another: if it has ended, they should all be there to get its answers. */
  async #waitForOthers(scope: EngineScope): Promise<void> {
    const { clock, stopped } = this.#context;
    const enough = new AbortController();
    const ending = AbortSignal.any([stopped, enough.signal]);
    const pause = sleep(clock, scope.poll.minimum, ending).catch(() => undefined);
    await Promise.race([this.#services.caughtUp(), pause]);
    enough.abort();
  }

  /** What is uploaded is not uploaded again, if all of it is still wanted. */
  async #useUpload(batch: Batch, permit: Permit, scope: EngineScope): Promise<boolean> {
    // Where nobody asks for it, nobody has said that it may be paid for.
    if (!batch.isWaitedFor() || !batch.batcher.canCreateFrom(batch.handle)) return false;
    // Its estimate counts for the run that has planned it. Planned anew, it counts for the one that pays.
    if ([...batch.scopes].some(({ budget }) => budget !== undefined)) return false;
    if (!(await this.#allAskedFor(batch, scope))) return false;
    try {
      await permit.acquire(batch.ending.signal);
      if (permit.isTooMuch) throw new TooMuchError(batch);
      await this.#services.protocol.create(batch, permit, planOf(batch, []));
      return true;
    } catch (error) {
      // The file may be gone by now; the requests then go the usual way.
      if (!isAboutTheBatch(error)) throw error;
      this.#context.report(`use the uploaded file of batch ${batch.token}`, error);
      return false;
    }
  }

  /** The program asks again for what it asked before; quiet for a `window` means it is done. */
  async #allAskedFor(batch: Batch, scope: EngineScope): Promise<boolean> {
    const { clock, stopped } = this.#context;
    let before = -1;
    for (;;) {
      const asked = [...batch.members.values()].filter(
        ({ isSettled, request }) => isSettled || request?.isWaitedFor,
      ).length;
      if (asked === batch.members.size) return true;
      if (asked === before) return false;
      before = asked;
      await sleep(clock, scope.policy.window, stopped);
    }
  }
}

function tellRejoined(batch: Batch, age: number): void {
  batch.emit('notice', { notice: 'rejoined', ...batch.facts(), age: Math.max(0, age) });
}

/** The batch was refused or is not wanted as it is. Its requests may be. */
function isAboutTheBatch(error: unknown): boolean {
  return (
    error instanceof RefusedError || error instanceof UnwantedError || error instanceof TooMuchError
  );
}

function activate(claimed: ClaimedBatch, successor: Successor, now: number): Batch {
  const { token, lease, handle, cursor, remoteId, acceptedAge = 0 } = claimed;
  const isUnderOtherKey = claimed.queue.account !== successor.queue.account.id;
  const batch = new Batch(token, successor.queue, lease, { handle, cursor, isUnderOtherKey });
  // The scope that takes it over decides how often it is polled, before anyone else is attached.
  batch.scopes.add(successor.scope);
  batch.setLines(claimed.members);
  batch.traces = claimed.traces;
  if (claimed.state === 'creating') batch.moveTo({ name: 'creating' });
  if (claimed.state === 'accepted' && remoteId !== undefined) {
    successor.queue.account.hasServed = true;
    batch.moveTo({ name: 'running', remote: placeholder(remoteId), acceptedAt: now - acceptedAge });
  }
  return batch;
}

function placeholder(id: string): Remote {
  return { id, state: 'running', raw: 'unknown', readable: false, sources: {} };
}

/** The size is known of requests that were asked for again; the others will be like them. */
function tokensOf({ members }: Batch): number {
  let tokens = 0;
  let known = 0;
  for (const { request } of members.values()) {
    if (request === undefined) continue;
    tokens += request.tokens;
    known += 1;
  }
  return known === 0 ? 0 : Math.ceil((tokens / known) * members.size);
}

function firstOf({ members }: Batch): Request | undefined {
  for (const { request } of members.values()) if (request) return request;
  return undefined;
}
