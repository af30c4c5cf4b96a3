import type { Answer } from '../../base/types.ts';
import type { KeptAnswers } from '../../orchestrator/lines/kept-answers.ts';
import type { Position } from '../input/input-part.ts';

/**
 * - `asking`: its lines are with the engine, in memory.
 * - `waiting`: its lines are in batches under way, and cost nothing here.
 * - `ready`: every line has its outcome.
 */
export type ChunkState = 'asking' | 'waiting' | 'ready';

/** Lines that follow each other and are asked together: about a batch. */
export class Chunk {
  readonly start: Position;
  /** At most; the last chunk of the input may have fewer. */
  readonly size: number;
  state: ChunkState = 'asking';
  /** How often answers were gone from the ledger. */
  reopened = 0;
  /** Its lines stay in memory while their batch runs, so that the engine can send them again itself. */
  isHeld = false;
  /** Errors, and answers that the ledger does not know. By the place of the line in the chunk. */
  readonly answers = new Map<number, Answer>();
  /** Answers that are in memory already. */
  kept: readonly KeptAnswers[] = [];
  /** By the place of the line: `places.…`. `undefined`: all lines have their outcome. */
  #places: Uint8Array | undefined;

  constructor(start: Position, size: number) {
    this.start = start;
    this.size = size;
    this.#places = new Uint8Array(size);
  }

  /** It is not with the engine, and has no outcome. */
  isOpen(place: number): boolean {
    const state = this.#places?.[place];
    return state === places.new || state === places.asked;
  }

  /** Lines were with the engine, and have no outcome. */
  get hasOpen(): boolean {
    return this.#places?.some((state) => state === places.asked) ?? false;
  }

  wasAsked(place: number): boolean {
    return this.#places?.[place] !== places.new;
  }

  asked(place: number): void {
    if (this.#places) this.#places[place] = places.asked;
  }

  sent(place: number): void {
    if (this.#places) this.#places[place] = places.sent;
  }

  done(place: number): void {
    if (this.#places) this.#places[place] = places.done;
  }

  /** Every line has its outcome. */
  ready(): void {
    this.state = 'ready';
    this.#places = undefined;
  }

  keptAnswer(row: number): Answer | undefined {
    for (const answers of this.kept) {
      const answer = answers.get(row);
      if (answer) return answer;
    }
    return undefined;
  }

  /** Its lines are written, or will be later: then their answers are read from the ledger. */
  releaseAnswers(): void {
    for (const answers of this.kept) answers.release();
    this.kept = [];
  }

  /** The answers of these lines are gone from the ledger: they have to be asked again. */
  reopen(missing: readonly number[]): void {
    this.state = 'asking';
    this.reopened += 1;
    this.#places = new Uint8Array(this.size).fill(places.done);
    for (const place of missing) this.#places[place] = places.asked;
  }
}

/** `sent`: with the engine. `asked`: it was, and has no outcome. */
const places = { new: 0, asked: 1, sent: 2, done: 3 } as const;
