import { BatchlingError, messageOf, UnknownOutcomeError } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Remote } from '../../batchers/batcher.ts';
import { sleep } from '../../concurrency/backoff.ts';
import { missingPatience } from '../../concurrency/patience.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { failureOf } from '../model/failure-of.ts';
import { cancelRemote } from '../watch/cancel-batch.ts';
import { UnreadableTimes } from '../watch/unreadable-times.ts';

/** When to look, after the create, where the provider echoes what we sent. */
const exactLooks = [1_000, 4_000, 15_000];
/** How long an accepted create may stay invisible where nothing is echoed. */
const invisible = 10 * 60_000;
const candidateInterval = 5_000;
const longestInterval = 60_000;

/** Whether the batch was accepted could not be seen for too long. Nothing of it is sent again. */
export class UnseenError extends BatchlingError {
  /** What its callers are told. */
  readonly answer: Answer;

  constructor({ token }: Batch, answer: Answer) {
    super('UNKNOWN_OUTCOME', `It could not be seen whether batch ${token} was accepted.`);
    this.answer = answer;
  }
}

/** Decides what became of a create whose outcome is unknown, by looking at the provider. */
export class CreateFinder {
  readonly #context: EngineContext;
  /** Twins that have turned up. */
  readonly #twins = new WeakMap<Batch, Set<string>>();
  readonly #looking = new Map<Batch, Promise<void>>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** The batch as the provider has it, or `undefined` when it was never accepted. */
  find(batch: Batch, since = this.#context.clock.now()): Promise<Remote | undefined> {
    batch.moveTo({ name: 'looking' });
    return batch.batcher.info.exactlyFindable
      ? this.#findExactly(batch, since)
      : this.#findCandidate(batch, since);
  }

  async #findExactly(batch: Batch, since: number): Promise<Remote | undefined> {
    const { clock, stopped, background } = this.#context;
    for (const at of exactLooks) {
      // Taken over long after the create, the last look is the only one that is left.
      const last = exactLooks.at(-1) as number;
      if (at < last && clock.now() >= since + last) continue;
      await sleep(clock, Math.max(0, since + at - clock.now()), stopped);
      const [first, ...twins] = await this.#look(batch, since);
      if (first === undefined) continue;
      // Nobody waits for it: the batch is watched while a cancel is perhaps tried again and again.
      const cancelled = Promise.all(twins.map((twin) => this.#cancelTwin(batch, twin)));
      background(`cancel twins of batch ${batch.token}`, cancelled);
      return first;
    }
    return undefined;
  }

  /** Called after a create was repeated: the first one may have got through later. One look at a time. */
  lookForTwins(batch: Batch): Promise<void> {
    const looking = this.#looking.get(batch);
    if (looking) return looking;
    const looked = this.#cancelTwins(batch).finally(() => this.#looking.delete(batch));
    this.#looking.set(batch, looked);
    this.#context.background(`look for twins of batch ${batch.token}`, looked);
    return looked;
  }

  async #cancelTwins(batch: Batch): Promise<void> {
    const { phase } = batch;
    if (!batch.batcher.info.exactlyFindable || !('acceptedAt' in phase)) return;
    for (const remote of await this.#look(batch, phase.acceptedAt)) {
      if (remote.id !== phase.remote.id) await this.#cancelTwin(batch, remote);
    }
  }

  /**
   * Nothing of the create is echoed: batches newer than the high-water mark and of our size may be
   * ours. Only the ids in their results prove it, and those come at the end; so we wait for the end.
   */
  async #findCandidate(batch: Batch, since: number): Promise<Remote | undefined> {
    const { clock, stopped, ledger } = this.#context;
    const disproved = new Set<string>();
    /** When each was first seen to have ended. */
    const ended = new Map<string, number>();
    for (let looks = 1; ; looks += 1) {
      // A candidate may run for hours before it can be proved.
      await sleep(clock, pauseAfter(looks), stopped);
      const candidates = await this.#look(batch, since);
      let open = 0;
      for (const candidate of candidates) {
        if (disproved.has(candidate.id)) continue;
        if (await ledger.show(candidate.id)) {
          disproved.add(candidate.id);
          continue;
        }
        if (candidate.state !== 'ended') {
          open += 1;
          continue;
        }
        const ours = await this.#isOurs(batch, candidate);
        if (ours === true) return candidate;
        const endedAt = ended.get(candidate.id) ?? clock.now();
        ended.set(candidate.id, endedAt);
        const isEmpty = ours === 'no lines' && clock.now() - endedAt >= missingPatience;
        if (ours === false || isEmpty) disproved.add(candidate.id);
        else open += 1;
      }
      const waited = clock.now() - since;
      if (open === 0 && waited > invisible) return undefined;
      // By now it is older than any batch of the provider can be, and still neither ours nor anybody else's.
      if (waited > batch.queue.limits.outlives) {
        throw new UnknownOutcomeError(
          `It stays unknown whether batch ${batch.token} was accepted.`,
        );
      }
    }
  }

  /** `undefined`: it cannot be read. */
  async #isOurs(batch: Batch, candidate: Remote): Promise<boolean | 'no lines' | undefined> {
    let isRead = false;
    try {
      for await (const rows of batch.batcher.results(batch.wire, candidate)) {
        // The first line alone proves nothing: there may be foreign lines among ours.
        for (const row of rows) {
          if (!('id' in row)) continue;
          if (batch.members.has(row.id)) return true;
          isRead = true;
        }
      }
      return isRead ? false : 'no lines';
    } catch (error) {
      this.#context.report(`read batch ${candidate.id} to see whether it is ours`, error);
      return undefined;
    }
  }

  /** Whether this credential sees what the one before it has left; `undefined`: nobody can tell. */
  sharesAccount(batch: Batch, since: number): Promise<boolean | undefined> {
    return this.#untilSeen(batch, since, () =>
      batch.batcher.sharesAccount(batch.wire, batch.handle),
    );
  }

  #look(batch: Batch, since: number): Promise<readonly Remote[]> {
    return this.#untilSeen(batch, since, async () => {
      const plan = { token: batch.token, count: batch.count };
      const found = await batch.batcher.find(batch.wire, plan, batch.handle);
      return found.kind === 'absent' ? [] : found.remotes;
    });
  }

  /** As long as nothing can be seen, nothing is known, and nothing may be sent again. */
  async #untilSeen<T>(batch: Batch, since: number, look: () => Promise<T>): Promise<T> {
    const { clock, stopped, report, troubles } = this.#context;
    const times = new UnreadableTimes(clock);
    const isOld = () => clock.now() - since >= batch.queue.limits.outlives;
    for (let looks = 1; ; looks += 1) {
      try {
        const seen = await look();
        troubles.passed(batch.wire, 'find');
        return seen;
      } catch (error) {
        report(`look for batch ${batch.token}`, error);
        troubles.met(batch, 'find', error);
        const failure = failureOf(error);
        const isDenied = failure?.meaning === 'denied';
        const hasLasted = times.hasLasted(isDenied ? 'denied' : 'error');
        if (hasLasted && (isDenied || isOld())) {
          const answer = isDenied ? failure.answer : unseenAnswer(batch, error);
          if (answer) throw new UnseenError(batch, answer);
        }
        await sleep(clock, pauseAfter(looks), stopped);
      }
    }
  }

  async #cancelTwin(batch: Batch, twin: Remote): Promise<void> {
    const known = this.#twins.get(batch) ?? new Set();
    this.#twins.set(batch, known);
    if (known.has(twin.id)) return;
    known.add(twin.id);
    const what = twin.state === 'ended' ? 'a twin has run' : await this.#cancelled(batch, twin);
    batch.emit('batch:resent', { ...batch.facts(), reason: `${what}: ${twin.id}` });
  }

  async #cancelled(batch: Batch, twin: Remote): Promise<string> {
    try {
      await cancelRemote(this.#context, batch, twin);
      return 'a twin was cancelled';
    } catch (error) {
      this.#context.report(`cancel the twin ${twin.id} of batch ${batch.token}`, error);
      return 'a twin could not be cancelled';
    }
  }
}

function pauseAfter(looks: number): number {
  return Math.min(candidateInterval * 1.1 ** (looks - 1), longestInterval);
}

/** What callers are told when the batches of their account could not be read for too long. */
function unseenAnswer({ batcher, token }: Batch, error: unknown): Answer {
  const message =
    `It could not be seen whether batch ${token} was accepted: the batches of the account cannot ` +
    `be read (${messageOf(error)}). Nothing was sent again. It stays in the ledger: run the program again ` +
    'to look for it.';
  return ownAnswer(batcher, 'missing', message);
}
