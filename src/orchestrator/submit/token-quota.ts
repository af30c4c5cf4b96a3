import type { Clock } from '../../base/types.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { backoff } from '../../concurrency/backoff.ts';
import { newNoRoom, type Request } from '../model/request.ts';

/** Our count is an estimate, so a limit that a provider names is not used up. */
const headRoom = 0.9;
/** A batch that is alone is refused so often before it is halved. */
const refusalsBeforeHalving = 4;
/** The largest batch that a provider takes is some hundred times the smallest known limit. */
const mostHalvings = 8;
const firstPause = 5_000;
const longestPause = 10 * 60_000;
/** One or two refusals may be far apart by chance: others waited before it. */
const manyRefusals = 8;
/** A request above a named limit is refused so often, with pauses, before that is believed. */
const enoughAboveLimit = 3;
const refusalsApart = 5 * 60_000;

type RefusedRequest = Pick<Request, 'noRoom'>;

/**
 * The estimated tokens that one account may have under way with one model. A limit that the provider
 * names is kept. Otherwise a refusal closes the quota until a batch of ours ends, or a pause is over; and
 * a batch that is refused again and again although it is alone is halved.
 */
export class TokenQuota {
  readonly #clock: Clock;
  readonly #outlives: number;
  readonly #onNamed: (tokens: number) => void;
  #named: number | undefined;
  /**
   * What was found by trying: what fitted, or half of what did not. Others may have filled the quota, so it
   * grows again when it is used up without a refusal, and is forgotten with the engine.
   */
  #found = Number.POSITIVE_INFINITY;
  #waiting: Reservation[] = [];
  #reserved = 0;
  /** Reservations whose batch the provider has not taken yet. */
  #unproved = 0;
  #refusals = 0;
  #refusedAlone = 0;
  /** The size of the batch that was refused alone last: a smaller one proves nothing about it. */
  #refusedTokens = 0;
  #halvings = 0;
  /** Batches that went out before the last refusal are refused with it: that counts once. */
  #round = 0;
  #pause: unknown;

  constructor(
    clock: Clock,
    named: number | undefined,
    /** No other batch can use up the quota for longer than this. */
    outlives: number,
    onNamed: (tokens: number) => void,
  ) {
    this.#clock = clock;
    this.#named = named;
    this.#outlives = outlives;
    this.#onNamed = onNamed;
  }

  /** Most estimated tokens of one batch. */
  get limit(): number {
    return Math.min(this.#named ?? Number.POSITIVE_INFINITY, this.#found);
  }

  /** A reservation that is granted when there is room. `first`: by which its requests are known. */
  reserve(tokens: number, first?: RefusedRequest): Reservation {
    const reservation = new Reservation(this, tokens, first);
    this.#waiting.push(reservation);
    this.#grant();
    return reservation;
  }

  /** A reservation for a batch that is under way already, whether there is room or not. */
  occupy(tokens: number, first?: RefusedRequest): Reservation {
    const reservation = new Reservation(this, tokens, first);
    reservation.state = 'proved';
    this.#reserved += tokens;
    return reservation;
  }

  close(): void {
    this.#resume();
    this.#waiting = [];
  }

  /** Waiting is of no use: too large by itself, or refused for longer than any batch can last. */
  isHopeless({ noRoom }: RefusedRequest, tokens: number, count: number): boolean {
    const { since = Number.POSITIVE_INFINITY, refusals = 0, aboveLimit = 0 } = noRoom ?? {};
    if (refusals >= manyRefusals && this.#clock.now() - since > this.#outlives) return true;
    if (count > 1 || this.#named === undefined) return false;
    // Our estimate may be up to twice the truth.
    return tokens / 2 > this.#named || aboveLimit >= enoughAboveLimit;
  }

  /** Called by `Reservation` when the provider has taken its batch. */
  proved({ tokens, round }: Reservation): void {
    this.#unproved -= 1;
    this.#refusals = 0;
    this.#halvings = 0;
    if (tokens >= this.#refusedTokens) this.#refusedAlone = 0;
    const isProbe = round === this.#round && round > 0;
    if (isProbe && this.#reserved >= this.#found / 2) this.#found *= 2;
    this.#grant();
  }

  /** Called by `Reservation` when its batch has ended or is not sent. `state`: what the reservation was before. */
  left({ tokens, first }: Reservation, state: Reservation['state']): void {
    if (state === 'waiting') {
      this.#waiting = this.#waiting.filter(({ state: other }) => other === 'waiting');
    } else {
      this.#reserved -= tokens;
      if (state === 'granted') {
        this.#unproved -= 1;
      } else {
        // A batch has ended: that is the room everyone waits for.
        this.#resume();
        if (first) first.noRoom = undefined;
      }
    }
    this.#grant();
  }

  /** Called by `Reservation` when the provider had no room for its batch. `state`: what the reservation was before. */
  refused(
    reservation: Reservation,
    state: Reservation['state'],
    { limit, retryAfter }: BatchFailure,
  ): void {
    const { tokens, round } = reservation;
    this.#reserved -= tokens;
    if (state === 'granted') this.#unproved -= 1;
    if (limit !== undefined && limit > 0) this.#learn(Math.max(1, Math.floor(limit * headRoom)));
    if (this.#reserved === 0) this.#refusedWhenAlone(reservation);
    // All we know is that what is under way fits, and this did not beside it.
    else if (limit === undefined)
      this.#found = Math.min(this.#found, Math.max(this.#reserved, tokens));
    if (round === this.#round) {
      this.#round += 1;
      this.#refusals += 1;
      this.#pauseFor(
        backoff({ attempt: this.#refusals, base: firstPause, cap: longestPause, retryAfter }),
      );
    }
    this.#grant();
  }

  #refusedWhenAlone({ tokens, first }: Reservation): void {
    if (first) this.#count(first, tokens);
    this.#refusedAlone += 1;
    this.#refusedTokens = tokens;
    if (this.#refusedAlone < refusalsBeforeHalving || tokens > this.limit || tokens === 0) return;
    // Others may have used up the quota; splitting further would not help.
    if (this.#halvings === mostHalvings) return;
    this.#halvings += 1;
    this.#refusedAlone = 0;
    this.#found = Math.max(1, Math.ceil(tokens / 2));
  }

  /** Refusals that are close together say the same thing about the same batches of others. */
  #count(first: RefusedRequest, tokens: number): void {
    const now = this.#clock.now();
    const noRoom = first.noRoom ?? newNoRoom(now);
    first.noRoom = noRoom;
    noRoom.refusals += 1;
    const isAbove = this.#named !== undefined && tokens * headRoom > this.#named;
    if (!isAbove || now - noRoom.countedAt < refusalsApart) return;
    noRoom.aboveLimit += 1;
    noRoom.countedAt = now;
  }

  #learn(tokens: number): void {
    if (tokens >= (this.#named ?? Number.POSITIVE_INFINITY)) return;
    this.#named = tokens;
    this.#onNamed(tokens);
  }

  #pauseFor(milliseconds: number): void {
    this.#resume();
    this.#pause = this.#clock.setTimeout(() => {
      this.#pause = undefined;
      this.#grant();
    }, milliseconds);
  }

  #resume(): void {
    this.#clock.clearTimeout(this.#pause);
    this.#pause = undefined;
  }

  #grant(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      if (this.#pause !== undefined) return;
      // After a refusal, batches go out one at a time.
      if (this.#refusals > 0 && this.#unproved > 0) return;
      if (this.#reserved > 0 && this.#reserved + next.tokens > this.limit) return;
      this.#waiting.shift();
      this.#reserved += next.tokens;
      this.#unproved += 1;
      next.grant(this.#round);
    }
  }
}

/** What one batch takes of a quota, from the wait for it to the end of the batch. */
export class Reservation {
  readonly tokens: number;
  readonly first: RefusedRequest | undefined;
  /** Resolves when there is room. */
  readonly granted: Promise<void>;
  readonly #quota: TokenQuota;
  state: 'waiting' | 'granted' | 'proved' | 'gone' = 'waiting';
  round = 0;
  #grant: () => void = () => undefined;

  constructor(quota: TokenQuota, tokens: number, first: RefusedRequest | undefined) {
    this.#quota = quota;
    this.tokens = tokens;
    this.first = first;
    this.granted = new Promise((resolve) => {
      this.#grant = resolve;
    });
  }

  /** Called by `TokenQuota` when there is room. */
  grant(round: number): void {
    this.state = 'granted';
    this.round = round;
    this.#grant();
  }

  /** The provider has taken the batch. */
  proved(): void {
    if (this.state !== 'granted') return;
    this.state = 'proved';
    this.#quota.proved(this);
  }

  /** The provider had no room for it. */
  refused(failure: BatchFailure): void {
    const { state } = this;
    if (state === 'gone' || state === 'waiting') {
      this.leave();
      return;
    }
    this.state = 'gone';
    this.#quota.refused(this, state, failure);
  }

  /** Its batch has ended, or is not sent after all. Leaving twice is a no-op. */
  leave(): void {
    const { state } = this;
    if (state === 'gone') return;
    this.state = 'gone';
    this.#quota.left(this, state);
  }
}
