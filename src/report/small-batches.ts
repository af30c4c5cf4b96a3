import type { RoundWatch } from '../orchestrator/model/call.ts';
import type { FlushReason } from '../orchestrator/model/events.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { Answer, Clock } from '../types.ts';
import { holdsOneOf, piecesOf } from './answer-pieces.ts';
import { counted } from './summary.ts';

/** Usual limits of pools; a program that sends more at once does not limit itself much. */
const mostSmall = 100;
/** Numbers that people choose as a limit. Two or three calls are more often just a first try. */
const likelyLimits = new Set([5, 8, 10, 16, 20, 25, 32, 50, 64, 100]);
/** Calls that wait for answers come soon after them; what comes later has another reason. */
const soon = 10_000;
/** So many calls are compared with the answers before them; the first to come is enough. */
const mostCompared = 4;
/** A program whose rounds build on each other so often has nothing to raise. */
const roundsOfAnAgent = 3;

const page = 'docs/large-batches.md';

interface Facts {
  readonly stats: Stats;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly window: number;
}

/**
 * Notices programs that limit their own concurrency. Such a limit cannot be seen. What can be seen is that
 * a small batch is sent because nothing more comes, and that as soon as it is answered other calls
 * come, which could have come before: nothing of the answers is in them. An agent's next call holds
 * what it was answered, so it had to wait.
 */
export class SmallBatches implements RoundWatch {
  readonly #facts: Facts;
  readonly #say: (hint: string) => void;
  #rounds = 0;
  #capturedBefore = 0;
  #size = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #pieces: string[] = [];
  #agentRounds = 0;
  #isDone = false;

  constructor(facts: Facts, say: (hint: string) => void) {
    this.#facts = facts;
    this.#say = say;
  }

  flushed(requests: readonly { readonly body: string | undefined }[], reason: FlushReason): void {
    if (this.#isDone) return;
    const { captured, answered } = this.#facts.stats;
    // Another queue of the same round.
    if (answered < this.#capturedBefore) return;
    const before = { size: this.#size, pieces: this.#pieces };
    this.#capturedBefore = captured;
    this.#size = captured - answered;
    this.#pieces = [];
    if (this.#size > mostSmall || reason !== 'window') {
      this.#rounds = 0;
      return;
    }
    this.#rounds += 1;
    if (this.#rounds === 1) this.#askAtFirst();
    else if (this.#cameSoon()) this.#compare(before.size, before.pieces, requests);
  }

  answered(answer: Answer): void {
    if (this.#isDone || this.#rounds === 0) return;
    this.#answeredAt = this.#facts.clock.now();
    this.#pieces.push(...piecesOf(answer));
  }

  /** The window is what passed without another call. */
  #cameSoon(): boolean {
    const { clock, window } = this.#facts;
    return clock.now() - this.#answeredAt <= window + soon;
  }

  #askAtFirst(): void {
    if (!likelyLimits.has(this.#size)) return;
    this.#say(
      `${counted(this.#size, 'call')}, and no more for now. Are more to come? Then raise the limit ` +
        `that holds them back (p-limit, maxConcurrency): they can share this batch (${page})`,
    );
  }

  #compare(
    sizeBefore: number,
    pieces: readonly string[],
    requests: readonly { readonly body: string | undefined }[],
  ): void {
    const compared = requests.slice(0, mostCompared);
    if (compared.some(({ body }) => body !== undefined && holdsOneOf(body, pieces))) {
      this.#agentRounds += 1;
      this.#isDone = this.#agentRounds === roundsOfAnAgent;
      return;
    }
    this.#isDone = true;
    const most = Math.max(sizeBefore, this.#size);
    this.#say(
      `at most ${counted(most, 'call')} at once, and the next came only when these were answered. If ` +
        'the program limits its own concurrency (p-limit, maxConcurrency, a loop with await), ' +
        `raise that limit: thousands of calls can share a batch and its wait (${page})`,
    );
  }
}
