import type { Answer, ItemId } from '../base/types.ts';

/** Why a request may go better next time. */
export type RetryReason =
  | 'rate-limit'
  | 'server'
  | 'expired'
  | 'cancelled'
  | 'never-ran'
  /** It may have run, but the provider has thrown its result away. */
  | 'lost';

/** What became of one request of a batch. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'retry'; readonly reason: RetryReason; readonly last: Answer };

/** One line of a result source. */
export type Row =
  | { readonly id: ItemId; readonly outcome: Outcome }
  /** Everything before this was read; reading may go on here. */
  | { readonly cursor: string }
  /** A line that could not be understood, shortened for people. */
  | { readonly broken: string }
  /**
   * At the end of a source without a line that could be understood, such as a proxy's page, or of one
   * whose end may be a connection that broke.
   */
  | { readonly unreadable: 'empty' | 'garbled' | 'unended' };
