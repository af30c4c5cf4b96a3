import type { RoundWatch } from '../orchestrator/model/call.ts';
import type { FlushReason } from '../orchestrator/model/events.ts';
import type { Stats } from '../orchestrator/model/stats.ts';
import type { Answer, Clock } from '../types.ts';
import { counted } from './summary.ts';

/** A program that has more calls under way at once hardly limits itself. */
const mostSmall = 100;
/** Numbers that people choose as a limit. Two or three calls are more often just a first try. */
const likelyLimits = new Set([5, 8, 10, 16, 20, 25, 32, 50, 64, 100]);
/** Calls that waited for answers come soon after them; later ones have another reason. */
const soon = 10_000;
/** How many calls of a round are compared with the answers before them. */
const mostCompared = 4;
/** After this many rounds that build on each other, the program counts as an agent. */
const roundsOfAnAgent = 3;

const page = 'docs/large-batches.md';

interface Facts {
  readonly stats: Stats;
  readonly clock: Clock;
  /** Milliseconds. */
  readonly window: number;
}

/**
 * Finds programs that limit their own concurrency. The limit itself cannot be seen. What can be seen:
 * a small batch is sent because no more calls come, and as soon as it is answered other calls come
 * that hold nothing of the answers, so they could have come before. An agent's next call does hold
 * the last answer, so it had to wait.
 */
export class ConcurrencyHint implements RoundWatch {
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

  /** The queue has waited for `window` since its last call. */
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

/** Shorter pieces occur in unrelated calls. */
const shortestPiece = 12;
const longestPiece = 40;
/** Larger texts are not searched. */
const mostText = 100_000;
/** Fields in which providers put the model's text, and ids that a later call refers to. */
const tellingFields = new Set(['content', 'text', 'arguments', 'id', 'call_id']);

/**
 * Pieces of an answer that a call built on it would repeat, written as they would stand in its body:
 * the middle of the longest text, and the id.
 */
function piecesOf(answer: Answer): string[] {
  if (answer.status >= 400 || answer.body.length > mostText) return [];
  const json = answer.json ?? parse(answer.body);
  const texts: string[] = [];
  collectTexts(json, false, texts);
  const longest = texts.reduce((long, text) => (text.length > long.length ? text : long), '');
  const { id } = (json ?? {}) as { id?: unknown };
  return [...new Set([longest, id])]
    .filter((text): text is string => typeof text === 'string' && text.length >= shortestPiece)
    .map((text) => JSON.stringify(middleOf(text)).slice(1, -1));
}

/** Of a large body only the end is searched: new messages stand there. */
function holdsOneOf(body: string, pieces: readonly string[]): boolean {
  const text = body.length > mostText ? body.slice(-mostText) : body;
  return pieces.some((piece) => text.includes(piece));
}

function collectTexts(value: unknown, isTelling: boolean, texts: string[]): void {
  if (typeof value === 'string') {
    if (isTelling) texts.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      // Elements of an array count as the field that holds the array.
      collectTexts(inner, Array.isArray(value) ? isTelling : tellingFields.has(key), texts);
    }
  }
}

function middleOf(text: string): string {
  const from = Math.max(0, Math.floor((text.length - longestPiece) / 2));
  return text.slice(from, from + longestPiece);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
