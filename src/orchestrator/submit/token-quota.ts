import type { BatchFailure } from '../../batchers/batcher.ts';
import { backoff } from '../../http/backoff.ts';
import type { Clock } from '../../types.ts';
import { LoneRefusals } from './lone-refusals.ts';

/** Our count is an estimate, so a limit that a provider names is not used up. */
const headRoom = 0.9;
/** So often is a batch refused while nothing else of ours is under way, before it is halved. */
const patience = 4;
/** The largest batch that a provider takes is some hundred times the smallest known room. */
const mostHalvings = 8;
/** Refusals of one series are no further apart: no pause is longer. */
const oneSeries = 60 * 60_000;
const firstPause = 5_000;
const longestPause = 10 * 60_000;

/** How many estimated tokens may be under way together, as the provider taught us. */
export interface RoomLimit {
  readonly tokens: number;
  /** The provider has named the number. Otherwise it was found out by trying, and may grow again. */
  readonly named: boolean;
}

/**
 * What one account may have under way with one model. Nobody tells beforehand how much that is, so it
 * is learnt from refusals: the room then closes for a while, lets one batch in at a time until the
 * provider has taken one, and opens at once when a batch of ours has ended.
 */
export class Room {
  readonly #clock: Clock;
  readonly #outlives: number;
  readonly #onLearnt: (limit: RoomLimit) => void;
  #limit: RoomLimit | undefined;
  #line: Place[] = [];
  #taken = 0;
  /** Inside, and it is not known yet whether the provider has room for them. */
  #unproved = 0;
  /** Counts the refusals that were not of one burst. Places remember in which round they came in. */
  #round = 0;
  #refusals = 0;
  #refusedAlone = 0;
  /** How large the last one was that was refused alone. */
  #refusedTokens = 0;
  readonly #lone = new WeakMap<object, LoneRefusals>();
  #refusedSince: number | undefined;
  #lastRefusal = Number.NEGATIVE_INFINITY;
  #halvings = 0;
  #pause: unknown;

  constructor(
    clock: Clock,
    limit: RoomLimit | undefined,
    /** No other batch can take up room for longer than this. */
    outlives: number,
    onLearnt: (limit: RoomLimit) => void,
  ) {
    this.#clock = clock;
    this.#limit = limit;
    this.#outlives = outlives;
    this.#onLearnt = onLearnt;
  }

  /** Most estimated tokens of one batch. */
  get limit(): number {
    return this.#limit?.tokens ?? Number.POSITIVE_INFINITY;
  }

  /**
   * A place in the line; its turn comes when there is room. `first`: of the requests it is for, by which
   * they are known when they come again; `count`: how many they are.
   */
  join(tokens: number, first?: object, count?: number): Place {
    const place = new Place(this, tokens, first, count);
    this.#line.push(place);
    this.#letIn();
    return place;
  }

  /** A place for a batch that is under way already, whether there is room or not. */
  occupy(tokens: number): Place {
    const place = new Place(this, tokens);
    place.state = 'proved';
    place.round = this.#round;
    this.#taken += tokens;
    return place;
  }

  /** Waiting is of no use: too large by itself, or refused for longer than any batch can last. */
  isHopeless({ tokens, first }: Place, count: number): boolean {
    // Even if our estimate were twice the truth.
    if (count === 1 && this.#limit?.named && tokens / 2 > this.#limit.tokens) return true;
    const now = this.#clock.now();
    const lone = first && this.#lone.get(first);
    if (count === 1 && lone?.neverFits) return true;
    if (lone?.haveLasted(this.#outlives, now)) return true;
    const since = this.#refusedSince;
    return since !== undefined && now - since > this.#outlives;
  }

  close(): void {
    this.#open();
    this.#line = [];
  }

  /** For `Place`. */
  left(place: Place, state: Place['state']): void {
    if (state === 'waiting') {
      this.#line = this.#line.filter((other) => other !== place);
    } else {
      this.#taken -= place.tokens;
      if (state === 'inside') {
        this.#unproved -= 1;
      } else {
        // A batch has ended: that is the room everyone waits for.
        this.#open();
        if (place.first) this.#lone.delete(place.first);
      }
    }
    this.#letIn();
  }

  /** For `Place`. */
  proved(place: Place): void {
    this.#unproved -= 1;
    this.#refusals = 0;
    // What is smaller says nothing about it.
    if (place.tokens >= this.#refusedTokens) this.#refusedAlone = 0;
    this.#halvings = 0;
    this.#refusedSince = undefined;
    this.#lastRefusal = Number.NEGATIVE_INFINITY;
    const limit = this.#limit;
    const isProbe = place.round === this.#round && this.#round > 0;
    if (isProbe && limit && !limit.named && this.#taken >= limit.tokens / 2) {
      this.#learn({ tokens: limit.tokens * 2, named: false });
    }
    this.#letIn();
  }

  /** For `Place`. */
  refused(place: Place, { limit: named, retryAfter }: BatchFailure, wasUnproved: boolean): void {
    this.#taken -= place.tokens;
    if (wasUnproved) this.#unproved -= 1;
    this.#adjust(place, named);
    // Those that went in together are refused together: that is one refusal.
    if (place.round < this.#round) {
      this.#letIn();
      return;
    }
    const now = this.#clock.now();
    // A refusal of long ago was about another crowd.
    if (now - this.#lastRefusal > oneSeries) this.#refusedSince = now;
    this.#lastRefusal = now;
    this.#round += 1;
    this.#refusals += 1;
    this.#open();
    const pause = backoff({
      attempt: this.#refusals,
      base: firstPause,
      cap: longestPause,
      retryAfter,
    });
    this.#pause = this.#clock.setTimeout(() => {
      this.#open();
      this.#letIn();
    }, pause);
  }

  #adjust(place: Place, named: number | undefined): void {
    if (named !== undefined && named > 0) {
      this.#lower({ tokens: Math.max(1, Math.floor(named * headRoom)), named: true });
    }
    if (this.#taken > 0) {
      // Without a number all we know is that what is inside fits, and this did not beside it.
      const tokens = Math.max(this.#taken, place.tokens);
      if (named === undefined) this.#lower({ tokens, named: false });
      return;
    }
    this.#noteAlone(place, named);
    this.#refusedAlone += 1;
    this.#refusedTokens = place.tokens;
    if (this.#refusedAlone < patience || place.tokens > this.limit) return;
    // The room may be full of somebody else's batches: crumbs would not fit either.
    if (this.#halvings === mostHalvings) return;
    this.#halvings += 1;
    this.#refusedAlone = 0;
    this.#lower({ tokens: Math.max(1, Math.ceil(place.tokens / 2)), named: false });
  }

  #noteAlone({ first, tokens, count }: Place, named: number | undefined): void {
    if (first === undefined) return;
    const now = this.#clock.now();
    const lone = this.#lone.get(first) ?? new LoneRefusals(now);
    this.#lone.set(first, lone);
    lone.add(now, count === 1 && named !== undefined && tokens > named);
  }

  #lower(limit: RoomLimit): void {
    if (limit.tokens < this.limit) this.#learn(limit);
  }

  #learn(limit: RoomLimit): void {
    this.#limit = limit;
    this.#onLearnt(limit);
  }

  #open(): void {
    this.#clock.clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #letIn(): void {
    for (let next = this.#line[0]; next !== undefined; next = this.#line[0]) {
      if (this.#pause !== undefined) return;
      if (this.#refusals > 0 && this.#unproved > 0) return;
      if (this.#taken > 0 && this.#taken + next.tokens > this.limit) return;
      this.#line.shift();
      this.#taken += next.tokens;
      this.#unproved += 1;
      next.enter(this.#round);
    }
  }
}

/** One batch's place in a room, from the line to its end. */
export class Place {
  readonly tokens: number;
  readonly first: object | undefined;
  readonly count: number;
  /** Resolves when there is room. */
  readonly turn: Promise<void>;
  readonly #room: Room;
  state: 'waiting' | 'inside' | 'proved' | 'gone' = 'waiting';
  round = 0;
  #enter: () => void = () => undefined;

  constructor(room: Room, tokens: number, first?: object, count = 1) {
    this.#room = room;
    this.tokens = tokens;
    this.first = first;
    this.count = count;
    this.turn = new Promise((resolve) => {
      this.#enter = resolve;
    });
  }

  /** For `Room`. */
  enter(round: number): void {
    this.state = 'inside';
    this.round = round;
    this.#enter();
  }

  /** It would never be its turn, or never of any use. */
  isHopeless(count: number): boolean {
    return this.#room.isHopeless(this, count);
  }

  /** The provider has taken the batch in. */
  proved(): void {
    if (this.state !== 'inside') return;
    this.state = 'proved';
    this.#room.proved(this);
  }

  /** The provider had no room for it. */
  refused(failure: BatchFailure): void {
    if (this.state === 'gone' || this.state === 'waiting') {
      this.leave();
      return;
    }
    const wasUnproved = this.state === 'inside';
    this.state = 'gone';
    this.#room.refused(this, failure, wasUnproved);
  }

  /** It has ended, or is not sent after all. */
  leave(): void {
    if (this.state === 'gone') return;
    const before = this.state;
    this.state = 'gone';
    this.#room.left(this, before);
  }
}
