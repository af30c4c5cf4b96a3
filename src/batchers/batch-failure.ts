import type { Answer } from '../base/types.ts';

export interface BadLine {
  /** The number that the provider gives, probably counted from one: it is proved before a caller is told. */
  readonly line: number;
  readonly answer: Answer;
}

/**
 * What a reply that is not a success means, in the batcher's judgement:
 * - `full`: the account has no room now; it will when batches under way have ended.
 * - `busy`: the service is unavailable or asks for a pause, which is a matter of minutes.
 * - `denied`: it refuses the credential.
 * - `gone`: it does not know what was asked for.
 * - `refused`: it will not take this, now or later.
 * - `unserved`: there is no batch API at this address.
 *
 * Where it is unclear whether the provider acted, a batcher throws `UnknownOutcomeError` instead.
 */
export type ReplyMeaning = 'full' | 'busy' | 'denied' | 'gone' | 'refused' | 'unserved';

export interface BatchFailure {
  readonly code: string;
  readonly message: string;
  readonly meaning: ReplyMeaning;
  /** `fail`: give every caller this. `later`: wait for room. `smaller`: split. `isolate`: bad lines. */
  readonly next: 'fail' | 'later' | 'smaller' | 'isolate';
  /** HTTP status and body for the callers, where the provider gave them. */
  readonly answer?: Answer;
  /** The lines at fault and what their callers get, if `next` is `isolate`. */
  readonly bad?: readonly BadLine[];
  /** How many tokens may wait at once, if `next` is `later` and the provider says so. */
  readonly limit?: number;
  /** Milliseconds the provider asked us to wait. */
  readonly retryAfter?: number;
  /** How many milliseconds `later` may last before the callers get the failure. */
  readonly within?: number;
}
