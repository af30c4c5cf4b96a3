import { messageOf } from '../../base/errors.ts';
import type { Clock } from '../../base/types.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { Ledger, Look } from '../../ledger/ledger.ts';
import { loadPrices } from '../../pricing/price-list.ts';
import { refuseCall } from '../answer/delivery.ts';
import type { OwnReason } from '../answer/own-answer.ts';
import { bytesOf } from '../capture/fingerprint.ts';
import type { OccurrenceCount } from '../capture/occurrences.ts';
import { type Part, type Prepared, prepare } from '../capture/prepare.ts';
import { factsOf, tell } from '../events/events.ts';
import type { CallHandle, CapturedCall } from '../model/call.ts';
import type { CallEngine } from '../model/call-engine.ts';
import { queueKey } from '../queue/queue-terms.ts';
import { type DryRunSummary, summaryOf } from './dry-run-summary.ts';
import { HeldCalls } from './held-calls.ts';
import { answerPlanned, answerWithPlaceholders, type PendingCall } from './placeholder-answer.ts';
import { PlannedQueue } from './planned-queue.ts';

/** A deep dry run does not wait as long as a queue would: its rounds end when the program is quiet. */
const deepWindow = 100;

export interface DryRunOptions {
  /** Answer calls with placeholders, so that the program goes on. */
  readonly deep: boolean;
  /** How long no call must come until a round is over. */
  readonly window: number;
  readonly clock: Clock;
  readonly run: string;
  /** How often this run has asked each fingerprint. */
  readonly occurrences: OccurrenceCount;
  /** It is only looked at. `undefined`: there is none yet. */
  readonly ledger: Ledger | undefined;
  /** Resolves when all calls made so far have come here: the batcher of some may still be loading. */
  entered(): Promise<void>;
  /**
   * The first round is over, and calls wait that nobody will answer. `undefined`: such calls get an error
   * instead.
   */
  readonly stop: (() => void) | undefined;
  /** Called before calls of a round that is over hear of it. */
  roundEnded(): Promise<unknown>;
}

const handle: CallHandle = {
  abort: () => undefined,
  abandon: () => undefined,
  read: () => undefined,
  leaveBehind: () => undefined,
  isSent: false,
  isElsewhere: false,
  isSubmitted: false,
  isUnclear: false,
  batchToken: undefined,
  row: undefined,
};

/** Stands in the place of the engine: it captures, groups and prices calls, and sends and writes nothing. */
export class DryRun implements CallEngine {
  readonly isStored = false;
  readonly #options: DryRunOptions;
  readonly #window: number;
  readonly #queues = new Map<string, PlannedQueue>();
  #captured: CapturedCall[] = [];
  #pending: PendingCall[] = [];
  readonly #held = new HeldCalls();
  #draining: Promise<void> | undefined;
  #timer: unknown;
  #calls = 0;
  #fromLedger = 0;
  #underWay = 0;
  #leftOut = 0;
  #isClosed = false;

  constructor(options: DryRunOptions) {
    this.#options = options;
    this.#window = options.deep ? Math.min(options.window, deepWindow) : options.window;
  }

  /** Calls wait for the end of their round. */
  get isWaiting(): boolean {
    if (this.#draining !== undefined || !this.#held.isEmpty) return true;
    return this.#pending.some(({ call }) => !call.settled);
  }

  capture(call: CapturedCall): CallHandle {
    this.#captured.push(call);
    this.#draining ??= this.#drain();
    this.#restartTimer();
    return handle;
  }

  /** Resolves with the end of the round, for ever not where that stops the program. */
  hold(): Promise<void> {
    if (this.#isClosed && !this.#stops) return Promise.resolve();
    if (!this.#isClosed) this.#restartTimer();
    return this.#held.add({ keepsAlive: !this.#isClosed });
  }

  /** The end of the first round ends the program. */
  get #stops(): boolean {
    return this.#options.stop !== undefined && !this.#options.deep;
  }

  async flush(): Promise<void> {
    await this.#endRound();
  }

  collected(): Promise<void> {
    return Promise.resolve();
  }

  async cancel(_handles: readonly CallHandle[], message: string): Promise<void> {
    await this.#drained();
    await this.#refuse(this.#pending.splice(0), 'cancelled', message);
  }

  /** What was seen so far. `bypassed`: calls that never came here. */
  async summary(bypassed: number): Promise<DryRunSummary> {
    await this.#drained();
    await this.#endQueues();
    const queues = [...this.#queues.values()].map((queue) => queue.summary());
    const counts = {
      deep: this.#options.deep,
      calls: this.#calls,
      fromLedger: this.#fromLedger,
      underWay: this.#underWay,
      leftOut: this.#leftOut,
      bypassed,
    };
    return summaryOf(
      counts,
      queues.filter(({ requests, tooLarge }) => requests + tooLarge > 0),
    );
  }

  close(): void {
    this.#isClosed = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#held.keepNothingAlive();
    if (!this.#stops) this.#held.letGo();
  }

  #restartTimer(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => void this.#endIfQuiet(), this.#window);
  }

  async #drained(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#captured.length > 0) {
        await nextTurn();
        await this.#take(this.#captured.splice(0));
      }
    } finally {
      this.#draining = undefined;
    }
  }

  async #take(calls: readonly CapturedCall[]): Promise<void> {
    const slice = new Slice();
    for (const call of calls) {
      if (slice.isOver) await slice.next();
      const leaveOut = (ready: Prepared) => this.#leaveOut(call, ready);
      const ready = call.aborted ? undefined : prepare(call, leaveOut);
      if (ready === undefined) continue;
      this.#calls += 1;
      try {
        await this.#plan(call, ready);
      } catch (error) {
        const facts = factsOf(call.target.batcher, ready.parts[0].route);
        refuseCall(call, facts, 'store', messageOf(error));
      }
    }
  }

  /** It would go out at once, whatever the ledger knows. */
  #leaveOut(call: CapturedCall, ready: Prepared): void {
    tell(call.scope.emit, 'call:captured', factsOf(call.target.batcher, ready.parts[0].route));
    this.#calls += 1;
    this.#leftOut += 1;
    for (const part of ready.parts) this.#queueOf(call, part, true).add(part, 1);
    call.taken();
    this.#pending.push({ ...ready, call, known: [] });
  }

  async #plan(call: CapturedCall, ready: Prepared): Promise<void> {
    const { parts } = ready;
    const occurrences = parts.map(({ key }) => this.#options.occurrences.next(key));
    const looks = await this.#look(call, parts, occurrences);
    const known = looks.map((look) => (look.is === 'answered' ? look.answer : undefined));
    const isNew = looks.some(({ is }) => is === 'new');
    for (const [index, part] of parts.entries()) {
      if (looks[index]?.is !== 'new') continue;
      this.#queueOf(call, part).add(part, occurrences[index] as number);
    }
    call.taken();
    if (known.every((answer) => answer !== undefined)) {
      this.#fromLedger += 1;
      answerPlanned(call, ready, known, 'ledger');
      return;
    }
    if (!isNew) this.#underWay += 1;
    this.#pending.push({ ...ready, call, known });
  }

  #look(
    { scope }: CapturedCall,
    parts: readonly Part[],
    occurrences: readonly number[],
  ): Promise<readonly Look[]> {
    const { ledger, run } = this.#options;
    if (ledger === undefined) return Promise.resolve(parts.map(() => ({ is: 'new' })));
    const asks = parts.map(({ key }, index) => ({
      fingerprint: bytesOf(key),
      occurrence: occurrences[index] as number,
      queue: 0,
      cache: scope.cache,
    }));
    return ledger.look(run, asks);
  }

  /** Finds queues as the engine does, except that credentials are not told apart. */
  #queueOf(call: CapturedCall, part: Part, isLeftOut = false): PlannedQueue {
    const key = `${isLeftOut}\n${queueKey(call, part.route)}`;
    const queue = this.#queues.get(key) ?? new PlannedQueue(call, part, isLeftOut);
    this.#queues.set(key, queue);
    return queue;
  }

  /** Calls that came meanwhile have started the timer anew. */
  async #endIfQuiet(): Promise<void> {
    const timer = this.#timer;
    await this.#options.entered();
    await this.#drained();
    if (timer === this.#timer) await this.#endRound();
  }

  async #endRound(): Promise<void> {
    await this.#drained();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#endQueues();
    await this.#options.roundEnded();
    this.#held.keepNothingAlive();
    if (!this.isWaiting) return;
    if (this.#stops) {
      this.#options.stop?.();
      return;
    }
    this.#held.letGo();
    if (this.#options.deep) await answerWithPlaceholders(this.#pending.splice(0));
    else await this.#refuse(this.#pending.splice(0), 'dry_run', notSent);
  }

  async #endQueues(): Promise<void> {
    await loadPrices();
    const { ledger } = this.#options;
    for (const queue of this.#queues.values()) {
      await queue.endRound(async () => ledger?.averageOutput(queue.facts));
    }
  }

  #refuse(calls: readonly PendingCall[], reason: OwnReason, message: string): Promise<void> {
    return inTurns(calls, ({ call, parts }) => {
      refuseCall(call, factsOf(call.target.batcher, parts[0].route), reason, message);
    });
  }
}

const notSent =
  'This is a dry run: the call was captured and priced, and not sent. dryRun: "deep" answers calls with ' +
  'placeholders, so that the program goes on.';
