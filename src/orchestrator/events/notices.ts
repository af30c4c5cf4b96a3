import type { BatchFacts } from './events.ts';
import type { TroubleKind } from './trouble-kind.ts';

/** Whose batches wait for room: those of a model for its quota, without a model all of the provider's. */
export interface WaitFacts {
  readonly provider: string;
  readonly model?: string;
}

/**
 * What people should know beside the events: one line each. A notice is one object for all scopes that
 * are told, so that who shows several scopes shows it once. It never holds a credential.
 */
export type Notice =
  /** Something is in the way, and `text` says what is done about it. */
  | {
      readonly notice: 'trouble';
      readonly id: string;
      readonly text: string;
      /** What is wrong at the provider, where the trouble is there. */
      readonly kind?: TroubleKind['kind'];
      /** Where the trouble is that batches wait for room. */
      readonly waits?: WaitFacts;
    }
  /** It is out of the way. Without a text there is nothing to say about it. */
  | { readonly notice: 'over'; readonly id: string; readonly text?: string }
  /** A batch of an earlier run is waited for; `age`: milliseconds since it was sent. */
  | (BatchFacts & { readonly notice: 'rejoined'; readonly age: number })
  /** The callers of a batch have been told that it cannot be brought to an end. */
  | (BatchFacts & { readonly notice: 'gave-up' })
  /**
   * Requests that another process has sent: its answers are waited for. `lease`: it may have ended, and so many
   * milliseconds after that its batches are taken over.
   */
  | { readonly notice: 'elsewhere'; readonly count: number; readonly lease?: number }
  /** The ledger cannot be used, and the program goes on without one. */
  | { readonly notice: 'no-ledger' }
  | { readonly notice: 'hint'; readonly text: string };

export type Notify = (notice: Notice) => void;
